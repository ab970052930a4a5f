import assert from "node:assert/strict";
import { test } from "node:test";
import { parseServiceCommand } from "../../src/service/service-command.ts";

test("parses Node, the script and the configuration file from a command that tollkeeper has written", () => {
  assert.deepEqual(parseServiceCommand(["/bin/node", "/lib/main.js", "serve", "--config", "/etc/c.jsonc"]), {
    node: "/bin/node",
    script: "/lib/main.js",
    configFile: "/etc/c.jsonc",
  });
});

test("a command that runs tollkeeper through env or directly names neither Node nor the script", () => {
  for (const words of [["/usr/bin/env", "tollkeeper"], ["/usr/local/bin/tollkeeper"]]) {
    const named = parseServiceCommand([...words, "serve", "--config", "/etc/c.jsonc"]);
    assert.deepEqual(named, { node: null, script: null, configFile: "/etc/c.jsonc" }, words.join(" "));
  }
});

test("an empty or incomplete command, or one with relative paths, names nothing", () => {
  const nothing = { node: null, script: null, configFile: null };
  for (const words of [
    [],
    ["/bin/node"],
    ["/bin/node", "/lib/main.js", "serve", "--config", "c.jsonc"].slice(2),
  ])
    assert.deepEqual(parseServiceCommand(words), nothing);
});
