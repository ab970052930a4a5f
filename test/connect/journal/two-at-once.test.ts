import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { prepareDisconnection } from "../../../src/connect/connection.ts";
import { CODEX, scratchConnection } from "../scratch-connection.ts";

const TEXT = '{"base": "http://first"}';
const MEANWHILE = /^Failure: codex was connected or disconnected meanwhile, and nothing was changed$/;

test("of two that connect a tool at once the second is refused, and the first can be undone", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", TEXT);
  const [first, second] = ["http://a", "http://b"].map((url) =>
    home.prepare(home.file("settings.json", "jsonc", [["base"], url])),
  );
  first?.carryOut();
  assert.throws(() => second?.carryOut(), MEANWHILE);
  assert.equal(home.read("settings.json"), '{"base": "http://a"}');
  assert.equal(home.disconnect()?.changes[0]?.fate, "restored");
  assert.deepEqual(home.snapshot(), [`settings.json 644 ${TEXT}`]);
  assert.deepEqual(fs.readdirSync(home.journals), []);
});

test("one that is overtaken before its journal is written leaves the other's alone", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", TEXT);
  const [first, second] = ["http://a", "http://b"].map((url) =>
    home.prepare(home.file("settings.json", "jsonc", [["base"], url])),
  );
  const { mock } = t.mock.method(fs, "openSync", (...args: Parameters<typeof fs.openSync>) => {
    // The second's backup is written: it has looked for a journal before.
    mock.restore();
    first?.carryOut();
    return fs.openSync(...args);
  });
  assert.throws(() => second?.carryOut(), MEANWHILE);
  assert.equal(home.read("settings.json"), '{"base": "http://a"}');
  home.disconnect();
  assert.deepEqual(home.snapshot(), [`settings.json 644 ${TEXT}`]);
});

test("one that fails at a file takes back its own journal only", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", TEXT);
  const losing = home.prepare(home.file("settings.json"));
  home.write("settings.json", '{"theirs": 1}');
  const winning = home.prepare(home.file("settings.json", "jsonc", [["base"], "http://b"]));
  const real = fs.fsyncSync;
  const { mock } = t.mock.method(fs, "fsyncSync", (fd: number) => {
    real(fd);
    if (!fs.existsSync(`${home.journals}/codex.user.json`)) return;
    // The two have looked at the same moment: the one's journal has taken the place of the other's.
    mock.restore();
    fs.rmSync(`${home.journals}/codex.user.json`);
    winning.carryOut();
  });
  assert.throws(() => losing.carryOut(), /was changed meanwhile/);
  home.disconnect();
  assert.deepEqual(home.snapshot(), ['settings.json 644 {"theirs": 1}']);
});

test("disconnecting what was connected anew meanwhile is refused", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", TEXT);
  home.connect(home.file("settings.json"));
  const disconnection = prepareDisconnection(home.journals, CODEX);
  home.connect(home.file("settings.json", "jsonc", [["base"], "http://b"]));
  assert.throws(() => disconnection?.carryOut(), MEANWHILE);
  assert.equal(home.read("settings.json"), '{"base": "http://b"}');
});
