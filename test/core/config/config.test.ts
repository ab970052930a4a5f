import assert from "node:assert/strict";
import { test } from "node:test";
import { validConfig } from "./valid-config.ts";
import { problemsOf } from "../../helpers/config/config-problems.ts";
import { buildJsonSchema } from "../../../src/core/config/schema.ts";
import { defaultConfig, type Access } from "../../../src/core/config/config.ts";
import { valueAt } from "../../../src/core/config/rules.ts";

const DEFAULT = { baseUrl: "https://api.example.com/v1" };

test("accepts upstreams named like members of internal results", () => {
  const { upstreams } = validConfig({ upstreams: { default: DEFAULT, problem: DEFAULT, value: DEFAULT } });
  assert.deepEqual(Object.keys(upstreams), ["default", "problem", "value"]);
});

test("resolves an empty file to the documented defaults", () => {
  assert.deepEqual(validConfig({}), {
    listen: { port: 8655, socket: null, allowedHosts: [], allowedOrigins: [] },
    access: { mode: "open", peerUid: [] },
    upstreams: {},
    tools: {},
    otherTools: { group: null },
    groups: {},
    projects: {},
    keys: {},
    budgets: [],
    outbound: { proxy: null, noProxy: [], caFile: null, authorities: [] },
    aliases: {},
    prices: {},
    planLogins: "refuse",
    plans: [],
    priceTable: null,
    ledger: { directory: null, retainDays: 400, noteAfterMs: 1_000, project: false },
    export: { metrics: null, otlp: null },
    abort: { graceMs: 500 },
    limits: {
      bodyBytes: 134_217_728,
      bodyIdleMs: 60_000,
      bufferBytes: 268_435_456,
      firstByteMs: 600_000,
      betweenBytesMs: 900_000,
      drainMs: 30_000,
    },
    serviceLimits: { notify: false },
    capture: true,
    outliers: { notify: false },
  });
  assert.deepEqual(defaultConfig, validConfig({}));
});

test("resolves an upstream with only a base URL to its name and every default", () => {
  assert.deepEqual(validConfig({ upstreams: { default: DEFAULT } }).upstreams, {
    default: {
      name: "default",
      baseUrl: "https://api.example.com/v1",
      origin: "https://api.example.com",
      basePath: "/v1",
      key: "default",
      keySource: { kind: "keychain" },
      auth: null,
      region: null,
      credential: "key",
      countTokensAuth: "x-api-key",
      fallback: [],
      anthropicVersion: "2023-06-01",
      inputIncludesCache: false,
      apis: null,
      models: null,
      headers: {},
      query: {},
      websocket: false,
      freeWarmups: false,
      allowQuery: [],
      routes: [],
      prices: {},
      discount: 0,
    },
  });
});

test("leaves $schema out of the resolved configuration", () => {
  assert.deepEqual(validConfig({ $schema: "./config.schema.json" }), defaultConfig);
});

test("an upstream without a key has no key source, and one that names both is refused", () => {
  const upstream = { baseUrl: "http://127.0.0.1:11434/v1", auth: "none" };
  const { keySource } = validConfig({ upstreams: { default: upstream } }).upstreams["default"] ?? {};
  assert.deepEqual(keySource, { kind: "none" });
  assert.deepEqual(problemsOf({ upstreams: { default: { ...upstream, keySource: { file: "/run/key" } } } }), [
    'upstreams.default.keySource: names a key, but "auth": "none" sends none; remove one of the two',
  ]);
});

test("an upstream that passes the own keys of tools has no key, and neither settings for one nor a fallback", () => {
  const own = { baseUrl: "https://api.example.com/v1", credential: "client" };
  assert.deepEqual(validConfig({ upstreams: { default: own } }).upstreams["default"]?.keySource, {
    kind: "none",
  });
  const other = { baseUrl: "https://other.example.com/v1", fallback: ["default"] };
  const told = { ...own, key: "a", keySource: { file: "/run/key" }, auth: "bearer", fallback: ["other"] };
  const unused = 'means nothing with "credential": "client": tools send their own key; remove one of the two';
  const noFallback =
    'a tool\'s own key goes to one upstream only, so with "credential": "client" there is no fallback; remove it';
  assert.deepEqual(problemsOf({ upstreams: { default: told, other } }), [
    `upstreams.default.key: ${unused}`,
    `upstreams.default.keySource: ${unused}`,
    `upstreams.default.auth: ${unused}`,
    `upstreams.default.fallback: ${noFallback}`,
    `upstreams.other.fallback[0]: ${noFallback}`,
  ]);
});

test("resolves each form of keySource to the source that it names", () => {
  const forms: [written: object, source: object][] = [
    [{ file: "/run/key" }, { kind: "file", path: "/run/key" }],
    [{ command: ["pass", "show", "x"] }, { kind: "command", argv: ["pass", "show", "x"] }],
    [
      { command: ["pass", "show", "x"], ttlMs: 10_000 },
      { kind: "command", argv: ["pass", "show", "x"], ttlMs: 10_000 },
    ],
    [
      { command: ["az", "x"], timeoutMs: 30_000 },
      { kind: "command", argv: ["az", "x"], timeoutMs: 30_000 },
    ],
    [{ credential: "API_KEY" }, { kind: "credential", name: "API_KEY" }],
  ];
  for (const [keySource, source] of forms) {
    const { upstreams } = validConfig({ upstreams: { default: { ...DEFAULT, keySource } } });
    assert.deepEqual(upstreams["default"]?.keySource, source);
  }
});

test("expands a leading ~/ in keySource.file and ledger.directory to the home directory", () => {
  const config = validConfig({
    upstreams: { default: { ...DEFAULT, keySource: { file: "~/.secrets/key" } } },
    ledger: { directory: "~/usage" },
  });
  assert.deepEqual(config.upstreams["default"]?.keySource, { kind: "file", path: "/home/ada/.secrets/key" });
  assert.equal(config.ledger.directory, "/home/ada/usage");
});

test("counts the spend of an extra route once per response for GET and always for POST, unless the route says otherwise", () => {
  const route = { path: "/responses/{id}", auth: "bearer", dialect: "responses" };
  const routes = [
    { ...route, method: "GET" },
    { ...route, method: "POST" },
    { ...route, method: "GET", path: "/files", spend: "never" },
  ];
  const config = validConfig({ upstreams: { default: { ...DEFAULT, routes } } });
  const spends = config.upstreams["default"]?.routes.map(({ spend }) => spend);
  assert.deepEqual(spends, ["attach_by_response_id", "count", "never"]);
});

test("accepts access as a word, or as an object that may admit more users", () => {
  const forms: [written: unknown, access: Access][] = [
    ["open", { mode: "open", peerUid: [] }],
    ["token", { mode: "token", peerUid: [] }],
    [{}, { mode: "open", peerUid: [] }],
    [{ mode: "token" }, { mode: "token", peerUid: [] }],
    [{ peerUid: [1000, 100_999] }, { mode: "open", peerUid: [1000, 100_999] }],
  ];
  for (const [written, access] of forms) assert.deepEqual(validConfig({ access: written }).access, access);
});

test("describes every key in the JSON Schema, and closes every object against others", () => {
  const schema = buildJsonSchema();
  assert.equal(schema["title"], "tollkeeper configuration");
  assert.equal(schema["$id"], "urn:tollkeeper:config");
  const undescribed: string[] = [];
  const open: string[] = [];
  const visit = (node: unknown, path: string): void => {
    for (const [key, below] of Object.entries(valueAt(node, ["properties"]) ?? {})) {
      if (typeof valueAt(below, ["description"]) !== "string") undescribed.push(`${path}.${key}`);
      visit(below, `${path}.${key}`);
    }
    const others = valueAt(node, ["additionalProperties"]);
    if (valueAt(node, ["type"]) === "object" && others === undefined) open.push(path);
    const forms = valueAt(node, ["anyOf"]);
    for (const inner of [others, valueAt(node, ["items"]), ...(Array.isArray(forms) ? forms : [])]) {
      if (typeof inner === "object") visit(inner, `${path}.*`);
    }
  };
  visit(schema, "");
  assert.deepEqual(undescribed, []);
  assert.deepEqual(open, []);
});
