import assert from "node:assert/strict";
import { test } from "node:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isInstalled } from "../../src/connect/installed.ts";
import type { ToolHost } from "../../src/tools/tool.ts";
import { removeDirectory, scratchDirectory } from "../helpers/process/scratch-directory.ts";

const TOOL = { programs: ["codex"], homePaths: [] };

function hostWith(env: Record<string, string>): ToolHost {
  return { platform: "linux", env, home: "/home/me", directory: "/", exists: () => false, list: () => [] };
}

test("a program of Windows, whose PATH WSL appends, is no installed tool", (t) => {
  // Its path has to be one of WSL's.
  const drive = "/mnt/z";
  const skip = process.getuid?.() !== 0 && "needs root, to make a directory in /mnt";
  if (skip !== false) return t.skip(skip);
  const program = join(drive, "tollkeeper-test", "codex");
  mkdirSync(join(program, ".."), { recursive: true });
  t.after(() => removeDirectory(drive));
  writeFileSync(program, "");
  chmodSync(program, 0o755);
  const PATH = `/usr/bin:${join(program, "..")}`;
  assert.equal(isInstalled(TOOL, hostWith({ PATH, WSL_DISTRO_NAME: "Debian" }), []), false);
  assert.equal(isInstalled(TOOL, hostWith({ PATH, WSL_INTEROP: "/run/WSL/1_interop" }), []), false);
  // Elsewhere that is a disk like any other.
  assert.equal(isInstalled(TOOL, hostWith({ PATH }), []), true);
});

test("a program of Linux is an installed tool in WSL, too", (t) => {
  const directory = scratchDirectory(t);
  writeFileSync(join(directory, "codex"), "");
  chmodSync(join(directory, "codex"), 0o755);
  assert.equal(isInstalled(TOOL, hostWith({ PATH: directory, WSL_DISTRO_NAME: "Debian" }), []), true);
});
