import assert from "node:assert/strict";
import { test } from "node:test";
import { upstreamsForTool } from "../../../src/core/policy/tool-access.ts";
import { listConfiguredKeys, resolveKeyRef } from "../../../src/core/policy/configured-keys.ts";
import type { Config } from "../../../src/core/config/config.ts";
import { validConfig } from "../config/valid-config.ts";

const DEFAULT = { baseUrl: "https://api.example.com/v1" };
const GATEWAY = { baseUrl: "https://gateway.example.com/api/v1/", key: "team" };

const namesFor = (config: Config, tool: string) => upstreamsForTool(config, tool).map(({ name }) => name);

test("a tool may use the upstreams that its configuration lists, in the order of the file, else all of them", () => {
  const config = validConfig({
    upstreams: { work: DEFAULT, gateway: GATEWAY, here: { baseUrl: "http://127.0.0.1:11434/v1" } },
    tools: { codex: { upstreams: ["here", "gateway"] }, opencode: {} },
  });
  assert.deepEqual(namesFor(config, "codex"), ["gateway", "here"]);
  assert.deepEqual(namesFor(config, "opencode"), ["work", "gateway", "here"]);
  for (const tool of ["never-configured", "constructor", "__proto__", "toString"])
    assert.deepEqual(namesFor(config, tool), ["work", "gateway", "here"]);
});

test("a tool may use no upstream when none is configured", () => {
  assert.deepEqual(namesFor(validConfig({ tools: { codex: { key: "codex" } } }), "codex"), []);
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
    tools: {
      codex: { key: "codex", upstreams: ["default"] },
      opencode: { upstreams: ["default"] },
      kilo: { upstreams: ["twin"] },
      pi: { upstreams: ["gateway"] },
    },
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

test("lists the key of a group once, with the tools that use it, and a star where all others do", () => {
  const config = validConfig({
    upstreams: { default: DEFAULT },
    tools: {
      codex: { group: "small" },
      pi: { group: "small", key: "pi" },
      zed: { key: "small" },
      "*": { group: "rest" },
    },
    groups: { small: { key: "small" }, rest: { key: "rest" } },
  });
  assert.deepEqual(
    listConfiguredKeys(config).map(({ ref, usedBy, isOwn }) => [ref.name, usedBy, isOwn]),
    [
      ["default", [], true],
      ["small", ["codex", "zed"], false],
      ["pi", ["pi"], false],
      ["rest", ["*"], false],
    ],
  );
});
