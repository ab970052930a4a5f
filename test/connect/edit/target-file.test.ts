import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { Failure } from "../../../src/core/failure.ts";
import { mountDisk, remountDisk } from "../../helpers/ledger/ledger.ts";
import { scratchConnection } from "../scratch-connection.ts";

const CONNECTED = '{"a": 1, "base": "http://h"}';

/** It fails with these words, and with nothing changed. */
function failsUnchanged(
  home: ReturnType<typeof scratchConnection>,
  work: () => void,
  message: RegExp,
  hint: RegExp,
) {
  const before = home.snapshot();
  assert.throws(work, (error) => {
    assert.ok(error instanceof Failure, String(error));
    assert.match(error.message, message);
    assert.match(error.hint ?? "", hint);
    return true;
  });
  assert.deepEqual(home.snapshot(), before);
}

test("a new file and its directories are for their owner only, and go again when it is undone", (t) => {
  const home = scratchConnection(t);
  const prepared = home.connect(home.file(".tool/deep/settings.json"));
  assert.deepEqual(
    prepared.changes.map(({ fate }) => fate),
    ["created"],
  );
  assert.deepEqual(home.snapshot(), [
    ".tool 700 ",
    ".tool/deep 700 ",
    '.tool/deep/settings.json 600 {\n  "base": "http://h"\n}\n',
  ]);
  assert.equal(home.disconnect()?.changes[0]?.fate, "removed");
  assert.deepEqual(home.snapshot(), []);
});

test("several files in directories that are not there are made with them, and go with them, whatever their order", (t) => {
  const names = [".tool/config.json", ".tool/index/deep/more.json", ".tool/index/settings.json"];
  for (const order of [names, names.toReversed()]) {
    const home = scratchConnection(t);
    home.connect(...order.map((name) => home.file(name)));
    assert.equal(home.snapshot().length, 6);
    assert.deepEqual(
      home.disconnect()?.changes.map(({ fate }) => fate),
      ["removed", "removed", "removed"],
    );
    assert.deepEqual(home.snapshot(), []);
  }
});

test("directories that were made for a file which is no longer needed go with the one that is in them now", (t) => {
  const home = scratchConnection(t);
  home.connect(home.file(".tool/old.json"));
  home.connect(home.file(".tool/new.json"));
  home.disconnect();
  assert.deepEqual(home.snapshot(), []);
});

test("where a file stands in the place of a directory, it is named", (t) => {
  const home = scratchConnection(t);
  const path = home.write(".tool", "a file");
  const work = () => home.connect(home.file(".tool/deep/settings.json"));
  failsUnchanged(
    home,
    work,
    new RegExp(`settings\\.json cannot be there, as ${path} is no directory$`),
    new RegExp(`^look at it with: ls -ld '${path}'$`),
  );
});

test("a directory that was made for a file stays when something else is in it", (t) => {
  const home = scratchConnection(t);
  home.connect(home.file(".tool/deep/settings.json"));
  home.write(".tool/theirs", "x");
  home.disconnect();
  assert.deepEqual(home.snapshot(), [".tool 700 ", ".tool/theirs 644 x"]);
});

test("mode and owner of a file stay, whatever the umask", (t) => {
  const home = scratchConnection(t);
  const path = home.write("settings.json", '{"a": 1}', 0o664);
  if (process.getuid?.() === 0) fs.chownSync(path, 65_534, 65_534);
  const before = fs.statSync(path);
  home.connect(home.file("settings.json"));
  const { mode, uid, gid } = fs.statSync(path);
  assert.deepEqual({ mode, uid, gid }, { mode: before.mode, uid: before.uid, gid: before.gid });
  assert.equal(home.read("settings.json"), CONNECTED);
});

test("a link is followed, over others, and stays a link", (t) => {
  const home = scratchConnection(t);
  home.write("dotfiles/settings.json", '{"a": 1}');
  fs.symlinkSync("dotfiles/settings.json", home.pathOf("first"));
  fs.symlinkSync(home.pathOf("first"), home.pathOf("settings.json"));
  const before = home.snapshot();
  home.connect(home.file("settings.json"));
  assert.equal(fs.readlinkSync(home.pathOf("settings.json")), home.pathOf("first"));
  assert.equal(home.read("dotfiles/settings.json"), CONNECTED);
  home.disconnect();
  assert.deepEqual(home.snapshot(), before);
});

test("a link that leads nowhere is refused", (t) => {
  const home = scratchConnection(t);
  fs.symlinkSync("nowhere", home.pathOf("settings.json"));
  const work = () => home.connect(home.file("settings.json"));
  failsUnchanged(
    home,
    work,
    /settings\.json is a link that leads to a file that is not there$/,
    /^look at it with: ls -l '/,
  );
});

test("a file that its owner made read-only is refused", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", "{}", 0o444);
  const work = () => home.connect(home.file("settings.json"));
  failsUnchanged(home, work, /settings\.json is read-only$/, /chmod u\+w '/);
});

test("a file with several names is refused, as the others would keep the old text", (t) => {
  const home = scratchConnection(t);
  const path = home.write("settings.json", "{}");
  fs.linkSync(path, home.pathOf("other"));
  const work = () => home.connect(home.file("settings.json"));
  failsUnchanged(home, work, /settings\.json has other names \(hard links\)/, /^make it one file: cp -p/);
});

test("what is no file, no UTF-8, or too large is refused", (t) => {
  const home = scratchConnection(t);
  fs.mkdirSync(home.pathOf("directory"));
  home.write("latin1", Buffer.from('{"a": "\xe4"}', "latin1"));
  home.write("large", Buffer.alloc(4 * 1024 * 1024 + 1, 0x20));
  const connecting = (name: string) => () => home.connect(home.file(name));
  failsUnchanged(home, connecting("directory"), /is not a regular file$/, /ls -lL/);
  failsUnchanged(home, connecting("latin1"), /is not in UTF-8, and is not touched$/, /grep -naxv/);
  failsUnchanged(home, connecting("large"), /is larger than 4 MiB/, /ls -lL/);
});

test("a file that cannot be understood is refused with its line and column, and nothing of it is told", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", '{\n  "secret": tru\n}');
  const work = () => home.connect(home.file("settings.json"));
  failsUnchanged(home, work, /settings\.json:2:13: not JSON: invalid symbol$/, /^correct it in an editor/);
});

test("a file that nests too deeply to be read is refused", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", "[".repeat(100_000));
  const work = () => home.connect(home.file("settings.json"));
  failsUnchanged(home, work, /settings\.json: nests too deeply to be read$/, /^correct it in an editor/);
});

test("a file that is changed between reading and writing stays as it is", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", "{}");
  const { carryOut } = home.prepare(home.file("settings.json"));
  home.write("settings.json", '{"theirs": 1}');
  failsUnchanged(
    home,
    carryOut,
    /settings\.json was changed meanwhile, and nothing was done to it$/,
    /again/,
  );
});

test("a file that appears between looking and writing stays as it is", (t) => {
  const home = scratchConnection(t);
  const { carryOut } = home.prepare(home.file("settings.json"));
  home.write("settings.json", '{"theirs": 1}');
  failsUnchanged(home, carryOut, /was changed meanwhile/, /again/);
  assert.equal(home.disconnect(), null);
});

test("on a full disk nothing is changed and nothing left behind", (t) => {
  const home = scratchConnection(t);
  const disk = mountDisk(t, 16 * 4096);
  if (disk === null) return;
  fs.symlinkSync(disk, home.pathOf("disk"));
  home.write("disk/settings.json", '{"a": 1}');
  fs.writeFileSync(`${disk}/ballast`, Buffer.alloc(15 * 4096));
  const work = () => home.connect(home.file("disk/settings.json"));
  const before = fs.readdirSync(disk);
  failsUnchanged(home, work, /cannot change .*settings\.json: the disk is full$/, /^make room: df -h/);
  const inNewDirectory = () => home.connect(home.file("disk/new/settings.json"));
  failsUnchanged(home, inNewDirectory, /the disk is full$/, /^make room/);
  assert.deepEqual(fs.readdirSync(disk), before);
  assert.equal(home.read("disk/settings.json"), '{"a": 1}');
});

test("where the disk of our own state is full nothing is changed", (t) => {
  const home = scratchConnection(t);
  const disk = mountDisk(t, 16 * 4096);
  if (disk === null) return;
  home.write("settings.json", '{"a": 1}');
  fs.mkdirSync(home.pathOf("state"));
  fs.symlinkSync(disk, home.journals);
  fs.writeFileSync(`${disk}/ballast`, Buffer.alloc(15 * 4096));
  const work = () => home.connect(home.file("settings.json"));
  failsUnchanged(home, work, /^cannot change .*codex\.user\..*: the disk is full$/, /^make room: df -h/);
});

test("in a place that cannot be written nothing is changed, and other files get back what they had", (t) => {
  const home = scratchConnection(t);
  const disk = mountDisk(t, 16 * 4096);
  if (disk === null) return;
  home.write("first.json", '{"a": 1}');
  fs.symlinkSync(disk, home.pathOf("disk"));
  home.write("disk/settings.json", '{"a": 1}');
  remountDisk(disk, "ro");
  const files = ["first.json", "new/second.json", "disk/settings.json"].map((name) => home.file(name));
  const work = () => home.connect(...files);
  failsUnchanged(home, work, /cannot change .*settings\.json: EROFS/, /^look at its directory with: ls -ld/);
  assert.equal(home.disconnect(), null);
});
