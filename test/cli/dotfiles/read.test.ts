import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Place } from "../../../src/cli/dotfiles/locations.ts";
import { placesIn } from "../../../src/cli/dotfiles/locations.ts";
import { readPlaces } from "../../../src/cli/dotfiles/read.ts";
import { scratchDirectory } from "../../helpers/keychain/keychain-session.ts";

const at = (path: string): Place => ({ kind: "shell", path });

test("a file is read, a link to one as well, and what is not there is left out", async (t) => {
  const directory = scratchDirectory(t);
  const [file, link] = [join(directory, "file"), join(directory, "link")];
  writeFileSync(file, "text\n");
  symlinkSync(file, link);
  assert.deepEqual(await readPlaces([file, link, join(directory, "none"), join(file, "none")].map(at)), [
    { kind: "shell", path: file, text: "text\n", trouble: null },
    { kind: "shell", path: link, text: "text\n", trouble: null },
  ]);
});

test("nobody waits for a pipe, nor reads a device, a directory or a loop of links", async (t) => {
  const directory = scratchDirectory(t);
  const [pipe, loop] = [join(directory, "pipe"), join(directory, "loop")];
  execFileSync("mkfifo", [pipe]);
  symlinkSync(loop, loop);
  const read = await readPlaces([pipe, "/dev/zero", directory, loop].map(at));
  assert.deepEqual(
    read.map(({ text, trouble }) => [text, trouble]),
    [
      ["", "it is not a regular file"],
      ["", "it is not a regular file"],
      ["", "it is not a regular file"],
      ["", "cannot be read (ELOOP)"],
    ],
  );
});

test("of a file of a gigabyte the beginning is read, and that is said", async (t) => {
  const path = join(scratchDirectory(t), "large");
  writeFileSync(path, "first\n");
  truncateSync(path, 1 << 30);
  const [place] = await readPlaces([at(path)]);
  assert.equal(place?.text.length, 8 * 1024 * 1024);
  assert.equal(place?.trouble, "only its first 8388608 bytes were looked through");
});

test("of a directory the files of the ending are read", async (t) => {
  const directory = scratchDirectory(t);
  for (const name of ["b.conf", "a.conf", "c.txt"]) writeFileSync(join(directory, name), name);
  const read = await readPlaces([{ kind: "shell", path: directory, ending: ".conf" }]);
  assert.deepEqual(
    read.map(({ text }) => text),
    ["a.conf", "b.conf"],
  );
});

test("what tools and shells are told of their directories is heeded", () => {
  const env = {
    CODEX_HOME: "/codex",
    CLAUDE_CONFIG_DIR: "/claude",
    ZDOTDIR: "/zsh",
    XDG_CONFIG_HOME: "/config",
    XDG_DATA_HOME: "/data",
  };
  const paths = placesIn({ home: "/home", env, platform: "linux" }).map(({ path }) => path);
  for (const path of [
    "/codex/auth.json",
    "/claude/settings.json",
    "/zsh/.zshrc",
    "/config/opencode/opencode.json",
    "/data/opencode/auth.json",
    "/home/.bashrc",
  ]) {
    assert.ok(paths.includes(path), path);
  }
  assert.ok(!paths.some((path) => path.startsWith("/home/.codex")));
});

test("places are told apart by kind, none twice", () => {
  const places = placesIn({ home: "/home", env: {}, platform: "darwin" });
  assert.equal(new Set(places.map(({ path }) => path)).size, places.length);
  assert.equal(places.find(({ path }) => path.endsWith(".zshrc"))?.kind, "shell");
  assert.equal(places.find(({ path }) => path.endsWith(".claude.json"))?.kind, "tool");
});
