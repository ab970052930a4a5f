import assert from "node:assert/strict";
import { test } from "node:test";
import { upstreamForTool, listConfiguredKeys, resolveKeyRef } from "../../../src/core/policy/upstreams.ts";
import { validConfig } from "../config/valid-config.ts";

const DEFAULT = { baseUrl: "https://api.example.com/v1" };
const GATEWAY = { baseUrl: "https://gateway.example.com/api/v1/", key: "team" };

test("chooses the upstream that a tool's configuration names, else the default one", () => {
  const config = validConfig({
    upstreams: { default: DEFAULT, gateway: GATEWAY },
    tools: { codex: { upstream: "gateway" }, opencode: {} },
  });
  assert.equal(upstreamForTool(config, "codex")?.name, "gateway");
  assert.equal(upstreamForTool(config, "opencode")?.name, "default");
  assert.equal(upstreamForTool(config, "never-configured")?.name, "default");
});

test("chooses the default upstream for a tool named like a property of Object.prototype", () => {
  const config = validConfig({ upstreams: { default: DEFAULT } });
  for (const tool of ["constructor", "__proto__", "toString"]) {
    assert.equal(upstreamForTool(config, tool)?.name, "default");
  }
});

test("chooses no upstream when none is configured", () => {
  assert.equal(upstreamForTool(validConfig({ tools: { codex: { key: "codex" } } }), "codex"), null);
});

test("resolves a key by its upstream's origin and the given name, else the upstream's key name", () => {
  const { upstreams } = validConfig({ upstreams: { default: DEFAULT, gateway: GATEWAY } });
  const gateway = upstreams["gateway"];
  assert.ok(gateway);
  const source = { kind: "keychain" };
  assert.deepEqual(resolveKeyRef(gateway, null), {
    origin: "https://gateway.example.com",
    name: "team",
    source,
    setArguments: "key set --upstream gateway",
  });
  assert.deepEqual(resolveKeyRef(gateway, "own"), {
    origin: "https://gateway.example.com",
    name: "own",
    source,
    setArguments: "key set own --upstream gateway",
  });
});

test("lists every configured key once, with the tools that use it", () => {
  const config = validConfig({
    upstreams: { default: DEFAULT, twin: DEFAULT, gateway: GATEWAY },
    tools: { codex: { key: "codex" }, opencode: {}, kilo: { upstream: "twin" }, pi: { upstream: "gateway" } },
  });
  const keys = listConfiguredKeys(config).map(({ upstream, ref, usedBy }) => [
    upstream.name,
    ref.name,
    usedBy,
  ]);
  assert.deepEqual(keys, [
    ["default", "default", ["opencode", "kilo"]],
    ["gateway", "team", ["pi"]],
    ["default", "codex", ["codex"]],
  ]);
});
