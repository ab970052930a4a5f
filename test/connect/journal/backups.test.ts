import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { prepareConnection, prepareDisconnection } from "../../../src/connect/connection.ts";
import type { Identity } from "../../../src/connect/connection.ts";
import { scratchConnection } from "../scratch-connection.ts";

const KEY = "sk-ant-api03-Qm9uZGVkIHdhcmVob3VzZSA0MjE3";

function tool(name: string): Identity {
  return { tool: name, scope: "user", directory: null };
}

/** Two tools that share a start-up file. */
function connectTwo(home: ReturnType<typeof scratchConnection>, path: string): void {
  for (const name of ["copilot", "sdk"]) {
    prepareConnection({ files: [home.file(path, "sh")], remarks: [] }, home.journals, tool(name)).carryOut();
  }
}

for (const order of [
  ["copilot", "sdk"],
  ["sdk", "copilot"],
]) {
  const words = `disconnected in the order ${order.join(", ")}`;

  test(`two tools in a start-up file, ${words}, leave no copies of it`, (t) => {
    const home = scratchConnection(t);
    home.write(".bashrc", "# mine\n");
    connectTwo(home, ".bashrc");
    const kept = order.flatMap((name) => prepareDisconnection(home.journals, tool(name))?.carryOut());
    assert.deepEqual(kept, []);
    assert.deepEqual(home.snapshot(), [".bashrc 644 # mine\n"]);
    assert.deepEqual(fs.readdirSync(home.journals), []);
  });

  test(`a start-up file that the first of two tools has made is gone, ${words}, and so are its directories`, (t) => {
    const home = scratchConnection(t);
    connectTwo(home, ".config/fish/conf.d/x.sh");
    order.forEach((name) => prepareDisconnection(home.journals, tool(name))?.carryOut());
    assert.deepEqual(home.snapshot(), []);
    assert.deepEqual(fs.readdirSync(home.journals), []);
  });
}

test("a file that we made stays with what a person has written in it, whichever tool goes last", (t) => {
  const home = scratchConnection(t);
  connectTwo(home, ".bashrc");
  home.write(".bashrc", `# mine\n${home.read(".bashrc")}`, 0o600);
  for (const name of ["copilot", "sdk"]) prepareDisconnection(home.journals, tool(name))?.carryOut();
  assert.deepEqual(home.snapshot(), [".bashrc 600 # mine\n"]);
});

test("a copy goes when the file says the same again, also if it had been edited in between", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", `{\n  "other": "${KEY}"\n}\n`);
  home.connect(home.file("settings.json"));
  home.write("settings.json", home.read("settings.json").replace('"base": ', '"base":   '));
  assert.deepEqual(prepareDisconnection(home.journals, tool("codex"))?.carryOut(), []);
  assert.deepEqual(fs.readdirSync(home.journals), []);
});

test("a copy of a file that did not become what it was stays, and is told", (t) => {
  const home = scratchConnection(t);
  const path = home.write("settings.json", `{"token": "${KEY}"}`);
  home.connect(home.file("settings.json", "jsonc", [["token"], "tk-codex"]));
  const kept = prepareDisconnection(home.journals, tool("codex"))?.carryOut() ?? [];
  const [name = ""] = fs.readdirSync(home.journals);
  assert.deepEqual(kept, [{ path, backup: join(home.journals, name), isBlotted: true }]);
});

test("the copy of a file that only the former connection wrote goes with it", (t) => {
  const home = scratchConnection(t);
  home.write("old.json", '{"old": 1}');
  home.write("new.json", '{"new": 1}');
  home.connect(home.file("old.json"));
  home.connect(home.file("new.json"));
  const copies = fs.readdirSync(home.journals).filter((name) => name.endsWith(".backup"));
  assert.deepEqual(
    copies.map((name) => fs.readFileSync(join(home.journals, name), "utf8")),
    ['{"new": 1}'],
  );
});

test("connecting that fails leaves no copy", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", '{"a": 1}');
  const { carryOut } = home.prepare(home.file("settings.json"));
  home.write("settings.json", '{"theirs": 1}');
  assert.throws(carryOut, /was changed meanwhile/);
  assert.deepEqual(fs.readdirSync(home.journals), []);
});
