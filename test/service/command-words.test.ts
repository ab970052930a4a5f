import assert from "node:assert/strict";
import { test } from "node:test";
import { readCommandWords } from "../../src/service/command-words.ts";

test("Node, the program and the configuration file are read from a command of our make", () => {
  assert.deepEqual(readCommandWords(["/bin/node", "/lib/main.js", "serve", "--config", "/etc/c.jsonc"]), {
    node: "/bin/node",
    script: "/lib/main.js",
    configFile: "/etc/c.jsonc",
  });
});

test("a command that looks for the program on PATH, or is one by itself, names no Node", () => {
  for (const words of [["/usr/bin/env", "tollkeeper"], ["/usr/local/bin/tollkeeper"]]) {
    const named = readCommandWords([...words, "serve", "--config", "/etc/c.jsonc"]);
    assert.deepEqual(named, { node: null, script: null, configFile: "/etc/c.jsonc" }, words.join(" "));
  }
});

test("nothing is read from no command, nor from a path that is not absolute", () => {
  const nothing = { node: null, script: null, configFile: null };
  for (const words of [
    [],
    ["/bin/node"],
    ["/bin/node", "/lib/main.js", "serve", "--config", "c.jsonc"].slice(2),
  ])
    assert.deepEqual(readCommandWords(words), nothing);
});
