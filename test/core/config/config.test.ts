import assert from "node:assert/strict";
import { test } from "node:test";
import { checkConfig } from "../../../src/core/config/check.ts";
import { buildJsonSchema } from "../../../src/core/config/schema.ts";
import { defaultConfig, keyRefOf, keyRefsOf, upstreamOf } from "../../../src/core/config/config.ts";
import type { Access, Config } from "../../../src/core/config/config.ts";
import { valueAt } from "../../../src/core/text/value-at.ts";

function accepted(file: unknown): Config {
  const verdict = checkConfig(file, "/home/ada");
  assert.ok(verdict.ok, JSON.stringify(verdict));
  return verdict.config;
}

const DEFAULT = { baseUrl: "https://api.example.com/v1" };
const GATEWAY = { baseUrl: "https://gateway.example.com/api/v1/", key: "team" };

test("an upstream may have any name", () => {
  const { upstreams } = accepted({ upstreams: { default: DEFAULT, problem: DEFAULT, value: DEFAULT } });
  assert.deepEqual(Object.keys(upstreams), ["default", "problem", "value"]);
});

test("an empty file gives the documented defaults", () => {
  assert.deepEqual(accepted({}), {
    listen: { port: 8655, allowedHosts: [], allowedOrigins: [] },
    access: { mode: "open", peerUid: [] },
    upstreams: {},
    tools: {},
    outbound: { proxy: null, noProxy: [], caFile: null, authorities: [] },
    ledger: { directory: null, retainDays: 400, project: false },
    abort: { graceMs: 500 },
    limits: {
      bodyBytes: 134_217_728,
      bodyIdleMs: 60_000,
      firstByteMs: 600_000,
      betweenBytesMs: 900_000,
      drainMs: 30_000,
    },
  });
  assert.deepEqual(defaultConfig, accepted({}));
});

test("an upstream with nothing but its base URL is resolved, with its name and every default", () => {
  assert.deepEqual(accepted({ upstreams: { default: DEFAULT } }).upstreams, {
    default: {
      name: "default",
      baseUrl: "https://api.example.com/v1",
      origin: "https://api.example.com",
      basePath: "/v1",
      key: "default",
      keySource: { kind: "keychain" },
      countTokensAuth: "x-api-key",
      anthropicVersion: "2023-06-01",
      inputIncludesCache: false,
      routes: [],
    },
  });
});

test("$schema is for editors and not part of the configuration", () => {
  assert.deepEqual(accepted({ $schema: "./config.schema.json" }), defaultConfig);
});

test("each form of keySource becomes the source that it names", () => {
  const forms: [written: object, source: object][] = [
    [{ file: "/run/key" }, { kind: "file", path: "/run/key" }],
    [{ command: ["pass", "show", "x"] }, { kind: "command", argv: ["pass", "show", "x"] }],
    [{ credential: "API_KEY" }, { kind: "credential", name: "API_KEY" }],
  ];
  for (const [keySource, source] of forms) {
    const { upstreams } = accepted({ upstreams: { default: { ...DEFAULT, keySource } } });
    assert.deepEqual(upstreams["default"]?.keySource, source);
  }
});

test("a leading ~/ becomes the home directory, in keySource.file and ledger.directory", () => {
  const config = accepted({
    upstreams: { default: { ...DEFAULT, keySource: { file: "~/.secrets/key" } } },
    ledger: { directory: "~/usage" },
  });
  assert.deepEqual(config.upstreams["default"]?.keySource, { kind: "file", path: "/home/ada/.secrets/key" });
  assert.equal(config.ledger.directory, "/home/ada/usage");
});

test("an extra route counts its spend once per response for GET and always for POST, unless it says otherwise", () => {
  const route = { path: "/responses/{id}", auth: "bearer", dialect: "responses" };
  const routes = [
    { ...route, method: "GET" },
    { ...route, method: "POST" },
    { ...route, method: "GET", path: "/files", spend: "never" },
  ];
  const config = accepted({ upstreams: { default: { ...DEFAULT, routes } } });
  const spends = config.upstreams["default"]?.routes.map(({ spend }) => spend);
  assert.deepEqual(spends, ["attach_by_response_id", "count", "never"]);
});

test("access is a word, or an object that may say whom else it lets in", () => {
  const forms: [written: unknown, access: Access][] = [
    ["open", { mode: "open", peerUid: [] }],
    ["token", { mode: "token", peerUid: [] }],
    [{}, { mode: "open", peerUid: [] }],
    [{ mode: "token" }, { mode: "token", peerUid: [] }],
    [{ peerUid: [1000, 100_999] }, { mode: "open", peerUid: [1000, 100_999] }],
  ];
  for (const [written, access] of forms) assert.deepEqual(accepted({ access: written }).access, access);
});

test("a tool takes the upstream that it names, else the default one", () => {
  const config = accepted({
    upstreams: { default: DEFAULT, gateway: GATEWAY },
    tools: { codex: { upstream: "gateway" }, opencode: {} },
  });
  assert.equal(upstreamOf(config, "codex")?.name, "gateway");
  assert.equal(upstreamOf(config, "opencode")?.name, "default");
  assert.equal(upstreamOf(config, "never-configured")?.name, "default");
});

test("a tool named like a property of Object.prototype takes the default upstream", () => {
  const config = accepted({ upstreams: { default: DEFAULT } });
  for (const tool of ["constructor", "__proto__", "toString"]) {
    assert.equal(upstreamOf(config, tool)?.name, "default");
  }
});

test("without upstreams no tool has one", () => {
  assert.equal(upstreamOf(accepted({ tools: { codex: { key: "codex" } } }), "codex"), null);
});

test("a key belongs to its upstream's origin, under the tool's name for it or else the upstream's", () => {
  const { upstreams } = accepted({ upstreams: { default: DEFAULT, gateway: GATEWAY } });
  const gateway = upstreams["gateway"];
  assert.ok(gateway);
  const source = { kind: "keychain" };
  assert.deepEqual(keyRefOf(gateway, null), { origin: "https://gateway.example.com", name: "team", source });
  assert.deepEqual(keyRefOf(gateway, "own"), { origin: "https://gateway.example.com", name: "own", source });
});

test("every configured key is listed once, with the tools that use it", () => {
  const config = accepted({
    upstreams: { default: DEFAULT, twin: DEFAULT, gateway: GATEWAY },
    tools: { codex: { key: "codex" }, opencode: {}, kilo: { upstream: "twin" }, pi: { upstream: "gateway" } },
  });
  const keys = keyRefsOf(config).map(({ upstream, ref, usedBy }) => [upstream.name, ref.name, usedBy]);
  assert.deepEqual(keys, [
    ["default", "default", ["opencode", "kilo"]],
    ["gateway", "team", ["pi"]],
    ["default", "codex", ["codex"]],
  ]);
});

test("the JSON Schema explains every key that may be written, and closes every object", () => {
  const schema = buildJsonSchema();
  assert.equal(schema["title"], "tollkeeper configuration");
  assert.equal(schema["$id"], "urn:tollkeeper:config");
  const unexplained: string[] = [];
  const open: string[] = [];
  const visit = (node: unknown, path: string): void => {
    for (const [key, below] of Object.entries(valueAt(node, ["properties"]) ?? {})) {
      if (typeof valueAt(below, ["description"]) !== "string") unexplained.push(`${path}.${key}`);
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
  assert.deepEqual(unexplained, []);
  assert.deepEqual(open, []);
});
