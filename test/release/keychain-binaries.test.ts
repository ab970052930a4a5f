// The keychain's library has an install script that compiles it. What it brings is enough: no script has to run.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";

const KEYTAR = fileURLToPath(new URL("../../node_modules/keytar/", import.meta.url));

test("the keychain's library loads from the binaries in its package, without anything that an install script made", (t) => {
  const copy = join(scratchDirectory(t), "keytar");
  cpSync(KEYTAR, copy, { recursive: true, filter: (path) => !path.startsWith(join(KEYTAR, "build")) });
  const script = `process.stdout.write(typeof require(${JSON.stringify(copy)}).getPassword)`;
  assert.equal(execFileSync(process.execPath, ["-e", script], { encoding: "utf8" }), "function");
});

test("it has binaries for each platform that is supported", () => {
  const platforms = readdirSync(join(KEYTAR, "prebuilds"));
  for (const platform of ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"])
    assert.ok(platforms.includes(platform), platform);
});
