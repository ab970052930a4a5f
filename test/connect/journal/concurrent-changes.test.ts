import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { prepareDisconnection } from "../../../src/connect/connection.ts";
import { CODEX, scratchConnection } from "../scratch-connection.ts";

const TEXT = '{"base": "http://first"}';
const MEANWHILE = /^Failure: codex was connected or disconnected in the meantime; nothing was changed$/;

test("refuses the second of two concurrent connections, and the first can be undone", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", TEXT);
  const [first, second] = ["http://a", "http://b"].map((url) =>
    home.prepare(home.file("settings.json", "jsonc", [["base"], url])),
  );
  first?.commit();
  assert.throws(() => second?.commit(), MEANWHILE);
  assert.equal(home.read("settings.json"), '{"base": "http://a"}');
  assert.equal(home.disconnect()?.changes[0]?.outcome, "restored");
  assert.deepEqual(home.snapshot(), [`settings.json 644 ${TEXT}`]);
  assert.deepEqual(fs.readdirSync(home.journals), []);
});

test("a connection that is overtaken before it writes its journal leaves the other one alone", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", TEXT);
  const [first, second] = ["http://a", "http://b"].map((url) =>
    home.prepare(home.file("settings.json", "jsonc", [["base"], url])),
  );
  const { mock } = t.mock.method(fs, "openSync", (...args: Parameters<typeof fs.openSync>) => {
    // The second one writes its backup, after it has checked the journal.
    mock.restore();
    first?.commit();
    return fs.openSync(...args);
  });
  assert.throws(() => second?.commit(), MEANWHILE);
  assert.equal(home.read("settings.json"), '{"base": "http://a"}');
  home.disconnect();
  assert.deepEqual(home.snapshot(), [`settings.json 644 ${TEXT}`]);
});

test("a connection that fails to write a file reverts only its own journal", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", TEXT);
  const losing = home.prepare(home.file("settings.json"));
  home.write("settings.json", '{"theirs": 1}');
  const winning = home.prepare(home.file("settings.json", "jsonc", [["base"], "http://b"]));
  const real = fs.fsyncSync;
  const { mock } = t.mock.method(fs, "fsyncSync", (fd: number) => {
    real(fd);
    if (!fs.existsSync(`${home.journals}/codex.user.json`)) return;
    // Both checked at the same moment, and the journal of one replaced that of the other.
    mock.restore();
    fs.rmSync(`${home.journals}/codex.user.json`);
    winning.commit();
  });
  assert.throws(() => losing.commit(), /was changed in the meantime/);
  home.disconnect();
  assert.deepEqual(home.snapshot(), ['settings.json 644 {"theirs": 1}']);
});

test("refuses to disconnect a tool that was connected again meanwhile", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", TEXT);
  home.connect(home.file("settings.json"));
  const disconnection = prepareDisconnection(home.journals, CODEX);
  home.connect(home.file("settings.json", "jsonc", [["base"], "http://b"]));
  assert.throws(() => disconnection?.commit(), MEANWHILE);
  assert.equal(home.read("settings.json"), '{"base": "http://b"}');
});
