import assert from "node:assert/strict";
import { readFileSync, renameSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { launchDaemon, startDaemon } from "../helpers/daemon/daemon.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";

/** Resolves with the content of the file once it matches. */
function waitForContent(file: string, pattern: RegExp): Promise<string> {
  return new Promise((resolve) => {
    const watcher = watch(dirname(file), () => check());
    const check = () => {
      const text = readFileSync(file, { encoding: "utf8", flag: "a+" });
      if (!pattern.test(text)) return;
      watcher.close();
      resolve(text);
    };
    check();
  });
}

test("serve --log-file writes the log to that file, and after SIGHUP to the file that has this name then", async (t) => {
  const file = join(scratchDirectory(t), "tollkeeper.log");
  const daemon = await startDaemon(t, { args: ["--log-file", file] });
  assert.match(readFileSync(file, "utf8"), /^\d{4}-\S+Z {2}info {3}tollkeeper is ready {2}listening=\[/m);
  assert.equal(daemon.stderr(), "");
  renameSync(file, `${file}.old`);
  process.kill(daemon.pid, "SIGHUP");
  assert.match(
    await waitForContent(file, /reloaded configuration and keys/),
    /^\d{4}-\S+Z {2}info {3}reloaded configuration and keys/,
  );
  assert.doesNotMatch(readFileSync(`${file}.old`, "utf8"), /reloaded configuration and keys/);
});

test("a daemon with a log file that cannot start writes the cause and the hint to that file and not to standard error", async (t) => {
  const home = scratchDirectory(t);
  const file = join(home, "tollkeeper.log");
  const start = launchDaemon(home, { config: "{ nonsense", args: ["--log-file", file] });
  await assert.rejects(start.ready, /ended before its output matched .*:\n$/);
  assert.match(
    readFileSync(file, "utf8"),
    / error {2}cannot start: the configuration is not usable.* {2}hint=correct it with: /,
  );
});

test("the start fails with the cause when the log file cannot be opened", async (t) => {
  await assert.rejects(
    startDaemon(t, { args: ["--log-file", "/dev/null/log"] }),
    /error: cannot write the log: /,
  );
});
