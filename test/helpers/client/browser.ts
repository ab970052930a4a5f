import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { removeDirectory } from "../process/scratch-directory.ts";

/** Why a real browser cannot run here, for `test(..., { skip })`; false when it can. */
export const noBrowser: string | false = reasonToSkip();

function reasonToSkip(): string | false {
  try {
    execFileSync("/bin/sh", ["-c", "command -v chromium"], { stdio: "ignore" });
    return false;
  } catch {
    return "not installed: chromium (apt-get install chromium)";
  }
}

/** `evil.test` is this machine. All other names fail to resolve, so that the browser makes no request outside it. */
export const NAMES = "MAP evil.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost";

/**
 * Opens a page in a new headless Chromium that resolves `evil.test` to 127.0.0.1. Ends with the test.
 * The page has to report its results itself, to a server the test runs.
 */
export function openPage(t: TestContext, url: string): void {
  // Chromium refuses to run its sandbox as root. The pages are ours, so it is not needed.
  const asRoot = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const profile = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  const child = spawn(
    "chromium",
    [
      "--headless",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      `--user-data-dir=${profile}`,
      `--host-resolver-rules=${NAMES}`,
      ...asRoot,
      url,
    ],
    { detached: true, stdio: "ignore" },
  );
  const ended = once(child, "exit");
  t.after(async () => {
    // Kills the whole process group: Chromium's child processes write to the profile, too.
    process.kill(-Number(child.pid), "SIGKILL");
    await ended;
    // Some child processes may still be exiting.
    removeDirectory(profile);
  });
}
