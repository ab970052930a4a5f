import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { removeDirectory, unmountLeftovers } from "./scratch-directory.ts";

/** Writes new files, in this process' place, for 300 ms. */
const WRITER = `
  const end = Date.now() + 300;
  console.log("writes");
  for (let i = 0; Date.now() < end; i++) try { require("node:fs").writeFileSync(process.argv[1] + "/" + i, ""); } catch {}
`;

test("a directory is removed although a process still writes to it", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  const below = join(directory, "export");
  mkdirSync(below);
  const writer = spawn(process.execPath, ["-e", WRITER, below], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => writer.kill("SIGKILL"));
  await once(writer.stdout, "data");
  removeDirectory(directory);
  assert.ok(!existsSync(directory));
});

test("a directory is removed although a killed test has left a file system mounted in it", (t) => {
  const directory = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  const disk = join(directory, "disk");
  mkdirSync(disk);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=65536", "tmpfs", disk], { stdio: "pipe" });
  } catch {
    t.skip("needs root on Linux, to mount a small file system");
  }
  unmountLeftovers(directory);
  removeDirectory(directory);
  assert.ok(!existsSync(directory));
});
