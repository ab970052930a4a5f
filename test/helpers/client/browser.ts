import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** Why no real browser can be run here, for `test(..., { skip })`; false when one can. */
export const noBrowser: string | false = reasonToSkip();

function reasonToSkip(): string | false {
  try {
    execFileSync("/bin/sh", ["-c", "command -v chromium"], { stdio: "ignore" });
    return false;
  } catch {
    return "not installed: chromium (apt-get install chromium)";
  }
}

/** Every other name is unknown to the browser, so that nothing of it leaves this machine. */
const NAMES = "MAP evil.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost";

/**
 * Opens a page in a headless Chromium of its own, for which the name `evil.test` means 127.0.0.1. Ends with the test.
 * What the page found it has to tell by itself, to a server of the test's.
 */
export function openPage(t: TestContext, url: string): void {
  // As root Chromium starts only without the sandbox that keeps pages off the system; the pages are our own.
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
    // The whole group: it starts processes of its own, which write to the profile.
    process.kill(-Number(child.pid), "SIGKILL");
    await ended;
    // The last of them may still be on their way out.
    rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
  });
}
