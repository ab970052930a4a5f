import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  readConnectionState,
  prepareConnection,
  prepareDisconnection,
  readConnections,
} from "../../src/connect/connection.ts";
import { Failure } from "../../src/core/failure.ts";
import { CODEX, scratchConnection } from "./scratch-connection.ts";

const KEY = "sk-ant-api03-Qm9uZGVkIHdhcmVob3VzZSA0MjE3";

test("disconnecting restores every file byte for byte and leaves nothing behind", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", '{\r\n\t"a" : 1, // c\r\n}');
  home.write("config.toml", "# c\n[t]\na = 1", 0o600);
  home.write("config.yaml", "");
  const before = home.snapshot();
  home.connect(
    home.file("settings.json"),
    home.file("config.toml", "toml"),
    home.file("config.yaml", "yaml"),
    home.file("new", "sh"),
  );
  assert.notDeepEqual(home.snapshot(), before);
  const outcomes = home.disconnect()?.changes.map(({ outcome }) => outcome);
  assert.deepEqual(outcomes, ["restored", "restored", "restored", "removed"]);
  assert.deepEqual(home.snapshot(), before);
  assert.deepEqual(fs.readdirSync(home.journals), []);
});

test("preparing writes nothing, and reports the purpose of each setting", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", '{"a": 1}');
  const before = home.snapshot();
  const { changes, isUnchanged } = home.prepare(home.file("settings.json"));
  assert.deepEqual(home.snapshot(), before);
  assert.ok(!fs.existsSync(home.journals));
  assert.equal(isUnchanged, false);
  assert.deepEqual(changes[0]?.purposes, [{ setting: "base", purpose: "a test" }]);
});

test("connecting again replaces values that differ, and disconnecting restores the first text", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", '{"base": "first"}');
  home.connect(home.file("settings.json"));
  assert.ok(home.prepare(home.file("settings.json")).isUnchanged);
  home.connect(home.file("settings.json", "jsonc", [["base"], "http://other"], [["more"], 1]));
  assert.equal(home.read("settings.json"), '{"base": "http://other", "more": 1}');
  assert.equal(home.disconnect()?.changes[0]?.outcome, "restored");
  assert.equal(home.read("settings.json"), '{"base": "first"}');
});

test("connecting again restores the files that the new connection does not need", (t) => {
  const home = scratchConnection(t);
  home.write("old.json", "{}");
  home.connect(home.file("old.json"), home.file("dir/made.json"));
  home.connect(home.file("new.json"));
  assert.deepEqual(home.snapshot(), ['new.json 600 {\n  "base": "http://h"\n}\n', "old.json 644 {}"]);
  home.disconnect();
  assert.deepEqual(home.snapshot(), ["old.json 644 {}"]);
});

test("a file that already has the wanted settings is not connected, and stays", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", '{"base": "http://h"}');
  assert.ok(home.connect(home.file("settings.json")).isUnchanged);
  assert.equal(home.disconnect(), null);
  assert.equal(home.read("settings.json"), '{"base": "http://h"}');
});

test("does not create a file for which there are no settings", (t) => {
  const home = scratchConnection(t);
  const { changes } = home.connect({ path: home.pathOf("new"), format: "toml", settings: [] });
  assert.deepEqual([changes[0]?.outcome, home.snapshot()], ["unchanged", []]);
});

test("does not recreate a file that was deleted since", (t) => {
  const home = scratchConnection(t);
  const path = home.write("settings.json", "{}");
  home.connect(home.file("settings.json"));
  fs.rmSync(path);
  assert.equal(home.disconnect()?.changes[0]?.outcome, "missing");
  assert.deepEqual(home.snapshot(), []);
});

test("keeps edits made since, and reports a setting that was changed", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", "{}");
  home.connect(home.file("settings.json", "jsonc", [["base"], "http://h"], [["token"], "tk"]));
  home.write("settings.json", '{"base": "http://theirs", "token": "tk"}');
  const { changes, unrestored } = home.disconnect() ?? {};
  assert.equal(changes?.[0]?.outcome, "cleared");
  assert.deepEqual(unrestored, [{ path: home.pathOf("settings.json"), setting: "base", reason: "changed" }]);
  assert.equal(home.read("settings.json"), '{"base": "http://theirs"}');
});

test("reports that a person changed every setting, so that the tool may still use tollkeeper", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", "{}");
  home.connect(home.file("settings.json", "jsonc", [["base"], "http://h"], [["token"], "tk"]));
  home.write("settings.json", '{"base": "http://theirs", "token": "tk"}');
  assert.equal(prepareDisconnection(home.journals, CODEX)?.hasOnlyEditedSettings, false);
  home.write("settings.json", '{"base": "http://theirs", "token": "theirs"}');
  assert.equal(home.disconnect()?.hasOnlyEditedSettings, true);
  home.connect(home.file("settings.json", "jsonc", [["base"], "http://h"]));
  assert.equal(home.disconnect()?.hasOnlyEditedSettings, false);
});

test("refuses to disconnect a file that cannot be parsed, until it is corrected", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", "{}");
  home.connect(home.file("settings.json"));
  const connected = home.read("settings.json");
  home.write("settings.json", connected.replace("}", ""));
  assert.throws(() => home.disconnect(), /settings\.json:3:1: not JSON: close brace expected$/);
  home.write("settings.json", connected);
  home.disconnect();
  assert.equal(home.read("settings.json"), "{}");
});

test("a connection is connected, changed or gone, as its files are", (t) => {
  const home = scratchConnection(t);
  const path = home.write("settings.json", "{}");
  const state = () => readConnectionState(home.journals, CODEX);
  assert.equal(state(), null);
  home.connect(home.file("settings.json", "jsonc", [["base"], "b"], [["token"], "tk"]));
  assert.equal(state(), "connected");
  home.write("settings.json", '{"token":"tk","base":"b"}');
  assert.equal(state(), "connected");
  home.write("settings.json", '{"token":"tk"}');
  assert.equal(state(), "changed");
  home.write("settings.json", '{"token":"tk","base":"other"}');
  assert.equal(state(), "changed");
  home.write("settings.json", "{");
  assert.equal(state(), "changed");
  home.write("settings.json", "{}");
  assert.equal(state(), "gone");
  fs.rmSync(path);
  assert.equal(state(), "gone");
});

test("keeps connections of different scopes and projects apart", (t) => {
  const home = scratchConnection(t);
  const plan = (name: string) => ({ files: [home.file(name)], remarks: [] });
  const project = { tool: "codex", scope: "project" as const, directory: "/p" };
  const other = { ...project, directory: "/q" };
  prepareConnection(plan("u"), home.journals, CODEX).commit();
  prepareConnection(plan("p"), home.journals, project).commit();
  prepareConnection(plan("q"), home.journals, other).commit();
  const connections = readConnections(home.journals);
  assert.deepEqual(new Set(connections.map(({ id }) => id.directory)), new Set(["/p", "/q", null]));
  assert.deepEqual(
    new Set(connections.flatMap(({ files }) => files.map(({ path }) => path))),
    new Set(["u", "p", "q"].map(home.pathOf)),
  );
});

test("only the owner can read journal and backup, and the backup is byte for byte the original file", (t) => {
  const home = scratchConnection(t);
  const text = '\uFEFF{"a": "ä"}\r\n';
  home.write("settings.json", text);
  home.connect(home.file("settings.json"));
  const [connection] = readConnections(home.journals);
  const [file] = connection?.files ?? [];
  assert.equal(file?.isRedacted, false);
  assert.equal(fs.readFileSync(file?.backup ?? "", "utf8"), text);
  assert.equal(fs.statSync(home.journals).mode & 0o777, 0o700);
  for (const name of fs.readdirSync(home.journals)) {
    assert.equal(fs.statSync(join(home.journals, name)).mode & 0o777, 0o600, name);
  }
});

test("connecting again keeps the first backup, and so does disconnecting if it cannot restore the file", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", '{"first": 1}');
  home.connect(home.file("settings.json"));
  const backup = readConnections(home.journals)[0]?.files[0]?.backup ?? "";
  home.write("settings.json", '{"first": 2, "base": "http://h"}');
  home.connect(home.file("settings.json", "jsonc", [["base"], "other"]));
  assert.equal(fs.readFileSync(backup, "utf8"), '{"first": 1}');
  assert.equal(readConnections(home.journals)[0]?.files[0]?.backup, backup);
  assert.equal(fs.readdirSync(home.journals).filter((name) => name.endsWith(".backup")).length, 1);
  home.write("settings.json", '{"first": 3, "base": "other"}');
  home.disconnect();
  assert.equal(fs.readFileSync(backup, "utf8"), '{"first": 1}');
});

test("writes no real key to the journal or the backup", (t) => {
  const home = scratchConnection(t);
  const beside = KEY.replace("api03", "api04");
  home.write("settings.json", `{"token": "${KEY}", "other": "${beside}"}`);
  const { keys } = home.connect(
    home.file("settings.json", "jsonc", [["token"], "tk-codex"], [["base"], "b"]),
  );
  assert.deepEqual(
    keys.map(({ setting }) => setting),
    ["token"],
  );
  for (const name of fs.readdirSync(home.journals)) {
    assert.doesNotMatch(fs.readFileSync(join(home.journals, name), "utf8"), /sk-ant/, name);
  }
  assert.equal(readConnections(home.journals)[0]?.files[0]?.isRedacted, true);
  const { unrestored } = home.disconnect() ?? {};
  assert.deepEqual(
    unrestored?.map(({ setting, reason }) => `${setting} ${reason}`),
    ["token was-key"],
  );
  assert.equal(home.read("settings.json"), `{"other": "${beside}"}`);
});

const DAMAGED: [text: string, message: RegExp][] = [
  ["{", /codex\.user\.json is damaged/],
  ["[]", /codex\.user\.json is damaged/],
  ['{"version": 1}', /codex\.user\.json is damaged/],
  ['{"version": 2}', /codex\.user\.json was written by a newer tollkeeper$/],
];

for (const [text, message] of DAMAGED) {
  test(`refuses the journal ${text} and changes nothing`, (t) => {
    const home = scratchConnection(t);
    home.write("state/connect/codex.user.json", text);
    assert.throws(
      () => home.disconnect(),
      (error) => error instanceof Failure && message.test(error.message),
    );
    assert.throws(() => home.connect(home.file("settings.json")), message);
    assert.deepEqual(home.snapshot(), []);
  });
}
