import assert from "node:assert/strict";
import fs from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { removeEmptyDirectories } from "../../../src/connect/edit/directories.ts";
import { tryReadText } from "../../../src/connect/edit/target-file.ts";
import { fixOf } from "../../../src/adapters/system-fix.ts";
import { Failure } from "../../../src/core/failure.ts";
import { mountDisk, remountDisk } from "../../helpers/ledger/ledger.ts";
import { NOBODY } from "../../helpers/process/other-user.ts";
import { scratchConnection } from "../scratch-connection.ts";

const CONNECTED = '{"a": 1, "base": "http://h"}';

/** Asserts that `work` throws a Failure with this message and hint, and changes nothing. */
function assertFailsUnchanged(
  home: ReturnType<typeof scratchConnection>,
  work: () => void,
  message: RegExp,
  hint: RegExp,
) {
  const before = home.snapshot();
  assert.throws(work, (error) => {
    assert.ok(error instanceof Failure, String(error));
    assert.match(error.message, message);
    assert.match(fixOf(error) ?? "", hint);
    return true;
  });
  assert.deepEqual(home.snapshot(), before);
}

test("creates a file and its directories for their owner only, and removes them when disconnecting", (t) => {
  const home = scratchConnection(t);
  const prepared = home.connect(home.file(".tool/deep/settings.json"));
  assert.deepEqual(
    prepared.changes.map(({ outcome }) => outcome),
    ["created"],
  );
  assert.deepEqual(home.snapshot(), [
    ".tool 700 ",
    ".tool/deep 700 ",
    '.tool/deep/settings.json 600 {\n  "base": "http://h"\n}\n',
  ]);
  assert.equal(home.disconnect()?.changes[0]?.outcome, "removed");
  assert.deepEqual(home.snapshot(), []);
});

test("creates and removes several files with shared missing directories, in any order", (t) => {
  const names = [".tool/config.json", ".tool/index/deep/more.json", ".tool/index/settings.json"];
  for (const order of [names, names.toReversed()]) {
    const home = scratchConnection(t);
    home.connect(...order.map((name) => home.file(name)));
    assert.equal(home.snapshot().length, 6);
    assert.deepEqual(
      home.disconnect()?.changes.map(({ outcome }) => outcome),
      ["removed", "removed", "removed"],
    );
    assert.deepEqual(home.snapshot(), []);
  }
});

test("removes directories created for an earlier file together with the file that is in them now", (t) => {
  const home = scratchConnection(t);
  home.connect(home.file(".tool/old.json"));
  home.connect(home.file(".tool/new.json"));
  home.disconnect();
  assert.deepEqual(home.snapshot(), []);
});

test("refuses a path that goes through a file, and names that file", (t) => {
  const home = scratchConnection(t);
  const path = home.write(".tool", "a file");
  const work = () => home.connect(home.file(".tool/deep/settings.json"));
  assertFailsUnchanged(
    home,
    work,
    new RegExp(`settings\\.json cannot exist, because ${path} is not a directory$`),
    new RegExp(`^inspect it with: ls -ld '${path}'$`),
  );
});

test("keeps a directory it created when something else is in it", (t) => {
  const home = scratchConnection(t);
  home.connect(home.file(".tool/deep/settings.json"));
  home.write(".tool/theirs", "x");
  home.disconnect();
  assert.deepEqual(home.snapshot(), [".tool 700 ", ".tool/theirs 644 x"]);
});

test("keeps the mode and owner of a file, whatever the umask", (t) => {
  const home = scratchConnection(t);
  const path = home.write("settings.json", '{"a": 1}', 0o664);
  if (process.getuid?.() === 0) fs.chownSync(path, 65_534, 65_534);
  const before = fs.statSync(path);
  home.connect(home.file("settings.json"));
  const { mode, uid, gid } = fs.statSync(path);
  assert.deepEqual({ mode, uid, gid }, { mode: before.mode, uid: before.uid, gid: before.gid });
  assert.equal(home.read("settings.json"), CONNECTED);
});

test("follows a chain of symbolic links, and keeps the links", (t) => {
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

test("refuses a dangling symbolic link", (t) => {
  const home = scratchConnection(t);
  fs.symlinkSync("nowhere", home.pathOf("settings.json"));
  const work = () => home.connect(home.file("settings.json"));
  assertFailsUnchanged(
    home,
    work,
    /settings\.json is a link that points at a file that does not exist$/,
    /^inspect it with: ls -l '/,
  );
});

test("refuses a read-only file", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", "{}", 0o444);
  const work = () => home.connect(home.file("settings.json"));
  assertFailsUnchanged(home, work, /settings\.json is read-only$/, /chmod u\+w '/);
});

const needsRoot =
  process.getuid?.() === 0
    ? false
    : "needs root: no permission stops root, so the check runs as another user";

/** Runs `work` with the permissions of another user, who owns nothing. */
function asNobody(work: () => void): void {
  process.seteuid?.(NOBODY);
  try {
    work();
  } finally {
    process.seteuid?.(0);
  }
}

test(
  "names the command that a missing permission needs, by whom the file belongs to",
  { skip: needsRoot },
  (t) => {
    const home = scratchConnection(t);
    const path = home.write("settings.json", "{}", 0o600);
    fs.chmodSync(home.home, 0o755);
    const fails = (name: string, hint: string) =>
      asNobody(() =>
        assert.throws(
          () => home.connect(home.file(name)),
          (error) => error instanceof Failure && fixOf(error) === hint,
        ),
      );
    fails("settings.json", `it belongs to another user; make it yours: sudo chown ${NOBODY} ${path}`);
    const link = home.pathOf("linked.json");
    fs.symlinkSync(path, link);
    const replaced = `put a file of your own in its place, after: mv ${link} ${link}.away`;
    fails("linked.json", `it belongs to another user; it is a link to ${path}; ${replaced}`);
    fs.chownSync(path, NOBODY + 1, NOBODY);
    const away = `look at what its owner wrote, then move it away with: mv ${path} ${path}.away`;
    fails("settings.json", `it belongs to another user; ${away}`);
    fs.chownSync(path, NOBODY, NOBODY);
    fs.chmodSync(path, 0o200);
    fails("settings.json", `make it readable with: chmod u+r '${path}'`);
    // The journal comes before the tool's file.
    fs.mkdirSync(home.journals, { recursive: true });
    fails("new.json", `inspect it with: ls -ld ${dirname(home.journals)} ${home.journals}`);
    fs.chownSync(home.journals, NOBODY, NOBODY);
    fails("new/new.json", `inspect it with: ls -ld ${dirname(home.home)} ${home.home}`);
  },
);

test(
  "a file behind a closed directory counts as absent where it is only looked for",
  { skip: needsRoot },
  (t) => {
    const home = scratchConnection(t);
    const path = home.write("closed/settings.json", "{}", 0o644);
    fs.chmodSync(home.home, 0o755);
    fs.chmodSync(home.pathOf("closed"), 0o700);
    asNobody(() => assert.equal(tryReadText(path), null));
    assert.equal(tryReadText(home.pathOf("x".repeat(300))), null);
  },
);

test("a directory that cannot be removed is kept, and the others are removed", (t) => {
  const home = scratchConnection(t);
  fs.mkdirSync(home.pathOf("empty"));
  // The root directory is a mount point.
  removeEmptyDirectories(["/", home.pathOf("empty"), home.pathOf("missing")]);
  assert.deepEqual(home.snapshot(), []);
});

test("refuses a file with hard links, which would keep the old text", (t) => {
  const home = scratchConnection(t);
  const path = home.write("settings.json", "{}");
  fs.linkSync(path, home.pathOf("other"));
  const work = () => home.connect(home.file("settings.json"));
  assertFailsUnchanged(
    home,
    work,
    /settings\.json has other names \(hard links\)/,
    /^make it one file: cp -p/,
  );
});

test("refuses a directory, a file that is not UTF-8, and a file that is too large", (t) => {
  const home = scratchConnection(t);
  fs.mkdirSync(home.pathOf("directory"));
  home.write("latin1", Buffer.from('{"a": "\xe4"}', "latin1"));
  home.write("large", Buffer.alloc(4 * 1024 * 1024 + 1, 0x20));
  const connecting = (name: string) => () => home.connect(home.file(name));
  assertFailsUnchanged(home, connecting("directory"), /is not a regular file$/, /ls -lL/);
  assertFailsUnchanged(home, connecting("latin1"), /is not in UTF-8 and was not changed$/, /grep -naxv/);
  assertFailsUnchanged(home, connecting("large"), /is larger than 4 MiB/, /ls -lL/);
});

test("refuses a file that cannot be parsed with line and column, and quotes nothing of it", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", '{\n  "secret": tru\n}');
  const work = () => home.connect(home.file("settings.json"));
  assertFailsUnchanged(
    home,
    work,
    /settings\.json:2:13: not JSON: invalid symbol$/,
    /^nothing was changed; correct the file in an editor/,
  );
});

test("refuses a file that nests too deeply", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", "[".repeat(100_000));
  const work = () => home.connect(home.file("settings.json"));
  assertFailsUnchanged(
    home,
    work,
    /settings\.json: is nested too deeply to be read$/,
    /^nothing was changed; correct the file in an editor/,
  );
});

test("does not write a file that changed after it was read", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", "{}");
  const { commit } = home.prepare(home.file("settings.json"));
  home.write("settings.json", '{"theirs": 1}');
  assertFailsUnchanged(
    home,
    commit,
    /settings\.json was changed in the meantime; tollkeeper did not touch it$/,
    /again/,
  );
});

test("does not write a file that appeared after it was found missing", (t) => {
  const home = scratchConnection(t);
  const { commit } = home.prepare(home.file("settings.json"));
  home.write("settings.json", '{"theirs": 1}');
  assertFailsUnchanged(home, commit, /was changed in the meantime/, /again/);
  assert.equal(home.disconnect(), null);
});

test("changes nothing and leaves nothing behind when the disk is full", (t) => {
  const home = scratchConnection(t);
  const disk = mountDisk(t, 16 * 4096);
  if (disk === null) return;
  fs.symlinkSync(disk, home.pathOf("disk"));
  home.write("disk/settings.json", '{"a": 1}');
  fs.writeFileSync(`${disk}/ballast`, Buffer.alloc(15 * 4096));
  const work = () => home.connect(home.file("disk/settings.json"));
  const before = fs.readdirSync(disk);
  assertFailsUnchanged(
    home,
    work,
    /cannot change .*settings\.json: the disk is full$/,
    /^free some space; to see what uses it, type: df -h /,
  );
  const inNewDirectory = () => home.connect(home.file("disk/new/settings.json"));
  assertFailsUnchanged(home, inNewDirectory, /the disk is full$/, /^free some space/);
  assert.deepEqual(fs.readdirSync(disk), before);
  assert.equal(home.read("disk/settings.json"), '{"a": 1}');
});

test("changes nothing when the disk of the journals is full", (t) => {
  const home = scratchConnection(t);
  const disk = mountDisk(t, 16 * 4096);
  if (disk === null) return;
  home.write("settings.json", '{"a": 1}');
  fs.mkdirSync(home.pathOf("state"));
  fs.symlinkSync(disk, home.journals);
  fs.writeFileSync(`${disk}/ballast`, Buffer.alloc(15 * 4096));
  const work = () => home.connect(home.file("settings.json"));
  assertFailsUnchanged(
    home,
    work,
    /^cannot change .*codex\.user\..*: the disk is full$/,
    /^free some space; to see what uses it, type: df -h /,
  );
});

test("rolls back the other files when one is on a read-only file system", (t) => {
  const home = scratchConnection(t);
  const disk = mountDisk(t, 16 * 4096);
  if (disk === null) return;
  home.write("first.json", '{"a": 1}');
  fs.symlinkSync(disk, home.pathOf("disk"));
  home.write("disk/settings.json", '{"a": 1}');
  remountDisk(disk, "ro");
  const files = ["first.json", "new/second.json", "disk/settings.json"].map((name) => home.file(name));
  const work = () => home.connect(...files);
  assertFailsUnchanged(
    home,
    work,
    /cannot change .*settings\.json: the file system is read-only$/,
    /^to see how it is mounted, type: findmnt -T /,
  );
  assert.equal(home.disconnect(), null);
});
