import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { prepareConnection, prepareDisconnection } from "../../../src/connect/connection.ts";
import type { ConnectionId } from "../../../src/connect/connection.ts";
import { scratchConnection } from "../scratch-connection.ts";

const KEY = "sk-ant-api03-Qm9uZGVkIHdhcmVob3VzZSA0MjE3";

function tool(name: string): ConnectionId {
  return { tool: name, scope: "user", directory: null };
}

/** Connects two tools that share a start-up file. */
function connectTwo(home: ReturnType<typeof scratchConnection>, path: string): void {
  for (const name of ["copilot", "sdk"]) {
    prepareConnection({ files: [home.file(path, "sh")], remarks: [] }, home.journals, tool(name)).commit();
  }
}

for (const order of [
  ["copilot", "sdk"],
  ["sdk", "copilot"],
]) {
  const words = `disconnecting ${order.join(" before ")}`;

  test(`${words} leaves no backup of a start-up file that both changed`, (t) => {
    const home = scratchConnection(t);
    home.write(".bashrc", "# mine\n");
    connectTwo(home, ".bashrc");
    const kept = order.flatMap((name) => prepareDisconnection(home.journals, tool(name))?.commit());
    assert.deepEqual(kept, []);
    assert.deepEqual(home.snapshot(), [".bashrc 644 # mine\n"]);
    assert.deepEqual(fs.readdirSync(home.journals), []);
  });

  test(`${words} removes a start-up file that the first tool created, and its directories`, (t) => {
    const home = scratchConnection(t);
    connectTwo(home, ".config/fish/conf.d/x.sh");
    order.forEach((name) => prepareDisconnection(home.journals, tool(name))?.commit());
    assert.deepEqual(home.snapshot(), []);
    assert.deepEqual(fs.readdirSync(home.journals), []);
  });
}

test("keeps a file that two tools created together when a person wrote to it", (t) => {
  const home = scratchConnection(t);
  connectTwo(home, ".bashrc");
  home.write(".bashrc", `# mine\n${home.read(".bashrc")}`, 0o600);
  for (const name of ["copilot", "sdk"]) prepareDisconnection(home.journals, tool(name))?.commit();
  assert.deepEqual(home.snapshot(), [".bashrc 600 # mine\n"]);
});

test("removes the backup when the file is restored, even if it was edited in between", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", `{\n  "other": "${KEY}"\n}\n`);
  home.connect(home.file("settings.json"));
  home.write("settings.json", home.read("settings.json").replace('"base": ', '"base":   '));
  assert.deepEqual(prepareDisconnection(home.journals, tool("codex"))?.commit(), []);
  assert.deepEqual(fs.readdirSync(home.journals), []);
});

test("keeps and returns the backup of a file that could not be fully restored", (t) => {
  const home = scratchConnection(t);
  const path = home.write("settings.json", `{"token": "${KEY}"}`);
  home.connect(home.file("settings.json", "jsonc", [["token"], "tk-codex"]));
  const kept = prepareDisconnection(home.journals, tool("codex"))?.commit() ?? [];
  const [name = ""] = fs.readdirSync(home.journals);
  assert.deepEqual(kept, [{ path, backup: join(home.journals, name), isRedacted: true }]);
});

test("a backup that an earlier connection left is never written over", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", `{"token": "${KEY}"}`);
  home.connect(home.file("settings.json", "jsonc", [["token"], "tk-codex"]));
  const [left] = prepareDisconnection(home.journals, tool("codex"))?.commit() ?? [];
  const first = fs.readFileSync(left?.backup ?? "", "utf8");
  home.write("settings.json", '{"later": 1}');
  home.connect(home.file("settings.json"));
  assert.equal(fs.readFileSync(left?.backup ?? "", "utf8"), first);
  const copies = fs.readdirSync(home.journals).filter((name) => name.endsWith(".backup"));
  assert.deepEqual(
    copies.map((name) => fs.readFileSync(join(home.journals, name), "utf8")).sort(),
    ['{"later": 1}', first].sort(),
  );
});

test("connecting again removes the backup of a file that only the former connection wrote", (t) => {
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

test("leaves no backup when connecting fails", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", '{"a": 1}');
  const { commit } = home.prepare(home.file("settings.json"));
  home.write("settings.json", '{"theirs": 1}');
  assert.throws(commit, /was changed in the meantime/);
  assert.deepEqual(fs.readdirSync(home.journals), []);
});
