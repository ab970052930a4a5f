import assert from "node:assert/strict";
import { test } from "node:test";
import { listRoutes } from "../../../src/core/http/built-in-routes.ts";
import { problemsOf, withRoute, withUpstream } from "../../helpers/config/config-problems.ts";
import { validConfig } from "./valid-config.ts";

const KEY = "sk-abc123";

/** What tools start models by, and their list. */
const FIXED = [
  "GET /models",
  "POST /responses",
  "POST /messages",
  "POST /messages/count_tokens",
  "POST /chat/completions",
  "POST /completions",
  "POST /embeddings",
];

test("an extra route may replace a built-in one, except those that tools start models by", () => {
  const upstream = validConfig(withUpstream({})).upstreams["default"];
  assert.ok(upstream);
  const builtIn = listRoutes(upstream).map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(
    FIXED.filter((one) => !builtIn.includes(one)),
    [],
  );
  for (const { method, path } of listRoutes(upstream)) {
    const file = withRoute({ method, path, dialect: "none", spend: "never" });
    const problem = `matches the same requests as the built-in ${method} ${path}; remove it`;
    const isFixed = FIXED.includes(`${method} ${path}`);
    assert.deepEqual(problemsOf(file), isFixed ? [`upstreams.default.routes[0].path: ${problem}`] : []);
    if (isFixed) continue;
    const replaced = validConfig(file).upstreams["default"];
    assert.ok(replaced);
    const same = listRoutes(replaced).filter((one) => one.method === method && one.path === path);
    assert.deepEqual(
      same.map(({ spend, dialect }) => [spend, dialect]),
      [["never", "none"]],
    );
  }
});

test("refuses the second of two extra routes for the same requests", () => {
  const ask = { method: "GET", auth: "bearer", dialect: "none" };
  const routes = [
    { ...ask, path: "/files/{id}" },
    { ...ask, path: "/files/all" },
  ];
  const problem = "matches the same requests as a route above; remove one";
  assert.deepEqual(problemsOf(withUpstream({ routes })), [`upstreams.default.routes[1].path: ${problem}`]);
});

test("refuses an upstream with the sandbox's name, which marks made-up requests in the ledger", () => {
  const upstreams = {
    sandbox: { baseUrl: "https://a.example/v1" },
    default: { baseUrl: "https://b.example/v1" },
  };
  assert.deepEqual(problemsOf({ upstreams }), [
    "upstreams.sandbox: this name is reserved for the built-in sandbox; choose another",
  ]);
});

const LEADS_BACK = "points at tollkeeper itself; it must be the address of the API behind it";

for (const [baseUrl, listen] of [
  ["http://127.0.0.1:8655/v1", {}],
  ["http://localhost:8655/v1", { port: 8655 }],
  ["https://[::1]:9000/api/v1", { port: 9000 }],
  ["http://127.0.0.1/v1", { port: 80 }],
  ["https://localhost/v1", { port: 443 }],
  ["https://llm.example/v1", { allowedHosts: ["a.example", "llm.example"] }],
  ["https://LLM.example:8443/v1", { port: 9000, allowedHosts: ["llm.example:8443"] }],
] as const) {
  test(`refuses the base URL ${baseUrl} where tollkeeper listens with ${JSON.stringify(listen)}`, () => {
    assert.deepEqual(problemsOf({ ...withUpstream({ baseUrl }), listen }), [
      `upstreams.default.baseUrl: ${LEADS_BACK}`,
    ]);
  });
}

for (const [baseUrl, listen] of [
  ["http://127.0.0.1:11434/v1", {}],
  ["http://127.0.0.1:8655/v1", { port: 9000 }],
  ["http://127.0.0.1:8655/v1", { port: 0 }],
  ["https://api.example.com:8655/v1", {}],
  ["https://llm.example/v1", { allowedHosts: ["llm.example:8655"] }],
] as const) {
  test(`accepts the base URL ${baseUrl} where tollkeeper listens with ${JSON.stringify(listen)}`, () =>
    assert.deepEqual(problemsOf({ ...withUpstream({ baseUrl }), listen }), []));
}

/** An upstream's address, without a region. */
const at = (host: string) => ({ baseUrl: `https://${host}/model`, region: null });

test("refuses what a signature does not go with, and accepts what it needs", () => {
  const command = { command: ["aws-keys"] };
  const signed = { auth: "sigv4", apis: ["bedrock"], keySource: command, region: "eu-west-1" };
  assert.deepEqual(problemsOf(withUpstream(signed)), []);
  for (const host of [
    "bedrock-runtime.us-east-1.amazonaws.com",
    "bedrock-runtime-fips.us-gov-west-1.amazonaws.com",
    "bedrock-runtime.cn-north-1.amazonaws.com.cn",
    "bedrock-runtime.eu-central-1.api.aws",
    "vpce-0a1b-2c3d.bedrock-runtime.eu-west-1.vpce.amazonaws.com",
  ])
    assert.deepEqual(problemsOf(withUpstream({ ...signed, ...at(host) })), [], host);
  const route = { method: "GET", path: "/a", auth: "bearer", dialect: "none" };
  for (const [changes, key, problem] of [
    [at("bedrock.example"), "region", 'must be a region of AWS, such as "eu-west-1": the host names none'],
    [at("bedrock-runtime.us-east-1.amazonaws.com.evil.example"), "region", /the host names none$/],
    [{ region: "Europe" }, "region", 'must be a region of AWS, such as "eu-west-1"'],
    [{ apis: ["bedrock", "messages"] }, "apis", /^must be \["bedrock"\], because/],
    [{ apis: null }, "apis", /^must be \["bedrock"\], because/],
    [
      { keySource: undefined },
      "keySource",
      /^must name a command that prints AWS access keys, such as \{"command":/,
    ],
    [{ keySource: { file: "/k" } }, "keySource", /^must name a command that prints AWS access keys/],
    [{ routes: [route] }, "routes", /^must be empty, because "auth": "sigv4"/],
    [{ auth: "bearer" }, "region", 'counts only with "auth": "sigv4"; remove it, or add that'],
  ] as const) {
    const [found = "", ...others] = problemsOf(withUpstream({ ...signed, ...changes }));
    assert.deepEqual(others, []);
    const start = `upstreams.default.${key}: `;
    assert.ok(found.startsWith(start), found);
    const text = found.slice(start.length);
    if (typeof problem === "string") assert.equal(text, problem);
    else assert.match(text, problem);
  }
});

test("refuses a second key name for a key source that gives one key, and accepts the upstream's own", () => {
  const file = withUpstream({ key: "team", keySource: { file: "/k" } });
  const problem =
    "this upstream's keySource has only one key; remove the key here, or add an upstream with its own keySource";
  assert.deepEqual(problemsOf({ ...file, tools: { codex: { key: "codex" } } }), [
    `tools.codex.key: ${problem}`,
  ]);
  assert.deepEqual(problemsOf({ ...file, tools: { codex: { key: "team" } } }), []);
});

test("refuses a tool's name that begins like a local token, and accepts such a key name", () => {
  const token = `tollkeeper-codex-${"a".repeat(43)}`;
  assert.deepEqual(problemsOf({ ...withUpstream({ key: "tollkeeper-work" }), tools: { [token]: {} } }), [
    `tools.[hidden]: a tool's name does not begin with "tollkeeper-", as local tokens do`,
  ]);
});

test("refuses __proto__, constructor and prototype anywhere, and changes no prototype", () => {
  const file: unknown = JSON.parse(
    '{ "__proto__": { "a": 1 }, "tools": { "constructor": {} }, "listen": { "prototype": 1 }, "x": [{ "__proto__": 1 }] }',
  );
  assert.deepEqual(
    problemsOf(file).filter((problem) => problem.endsWith(": this key is not allowed anywhere")),
    ["__proto__", "tools.constructor", "listen.prototype", "x[0].__proto__"].map(
      (path) => `${path}: this key is not allowed anywhere`,
    ),
  );
  assert.equal(Reflect.get({}, "a"), undefined);
});

test("reports all problems at once, including those between sections", () => {
  const file = {
    listen: { port: 0.5, hosts: [] },
    upstreams: { Main: { baseUrl: "https://api.example.com", key: KEY } },
    tools: { codex: { upstreams: ["main"], key: 3 } },
  };
  const paths = problemsOf(file).map((problem) => problem.split(": ")[0]);
  const expected = [
    "listen.hosts",
    "listen.port",
    "tools.codex.key",
    "tools.codex.upstreams[0]",
    "upstreams.Main",
    "upstreams.Main.baseUrl",
    "upstreams.Main.key",
  ];
  assert.deepEqual(new Set(paths), new Set(expected));
  assert.equal(paths.length, expected.length);
});

test("repeats a key value in no problem, wherever in the file it was", () => {
  const places = [
    KEY,
    { [KEY]: 1 },
    { tools: { [KEY]: 1, a: { upstream: KEY, [KEY]: 2 } } },
    { upstreams: { [KEY]: { baseUrl: KEY, keySource: KEY, routes: [KEY, { path: KEY }] } } },
    withUpstream({ baseUrl: `https://a:${KEY}@example.com/v1`, anthropicVersion: KEY, countTokensAuth: KEY }),
    withUpstream({ baseUrl: `https://example.com/${KEY}/messages`, keySource: { file: KEY, command: KEY } }),
    withUpstream({ baseUrl: `https://example.com/v1?key=${KEY}` }),
    {
      outbound: { httpsProxy: `http://a:${KEY}@proxy/x`, noProxy: [`${KEY},${KEY}`], caFile: KEY, [KEY]: 1 },
    },
    { outbound: { httpsProxy: `a:${KEY}@proxy:80` } },
    { outbound: { httpsProxy: `${KEY}:80` } },
    { outbound: { httpsProxy: `http://${KEY}/x` } },
    { listen: { port: KEY, allowedHosts: [`${KEY}/`], allowedOrigins: [KEY] }, ledger: { directory: KEY } },
  ];
  for (const file of places) {
    const problems = problemsOf(file);
    assert.ok(problems.length > 0);
    assert.ok(!problems.join("\n").includes(KEY), problems.join("\n"));
  }
});

test("escapes control characters that a problem repeats from the file", () => {
  const problems = problemsOf({ "\u001b[2J": 1, tools: { "\u202eevil": {} } }).join("\n");
  assert.ok(!problems.includes("\u001b") && !problems.includes("\u202e"), JSON.stringify(problems));
});
