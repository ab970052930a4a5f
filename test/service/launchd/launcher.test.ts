import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { parse } from "plist";
import { renderAgent } from "../../../src/service/launchd/agent.ts";
import { runSteps } from "../../../src/service/run-steps.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { createMac } from "./fake-mac.ts";
import { NASTY, targetFor } from "./service-target.ts";

const ignore = () => {};

/** Installs the service for a home directory with this name, and returns how launchd would start it. */
async function installLauncher(t: TestContext, command: { node: string; script: string }, name?: string) {
  const mac = createMac(t, {}, name);
  const target = targetFor(mac.home, command);
  await runSteps((await mac.launchd.install(target)).steps, mac.run, ignore);
  const { ProgramArguments: words, StandardErrorPath: log } = parse(renderAgent(target)) as {
    ProgramArguments: string[];
    StandardErrorPath: string;
  };
  /** Starts it as launchd does, with both outputs appended to the file. */
  const start = () => {
    const output = openSync(log, "a", 0o600);
    const [file = "", ...args] = words;
    return spawnSync(file, args, { stdio: ["ignore", output, output] }).status;
  };
  return { ...mac, log, start };
}

test("the launcher may be executed, and runs the command with its arguments as they are", async (t) => {
  const { home, log, start } = await installLauncher(
    t,
    { node: "/bin/echo", script: `${NASTY}/main.js` },
    NASTY.slice("/Users/".length).replaceAll("/", ""),
  );
  assert.equal(start(), 0);
  const { logFile, configFile, launcher } = targetFor(home);
  assert.equal(
    readFileSync(log, "utf8"),
    `${NASTY}/main.js serve --log-file ${logFile} --config ${configFile}\n`,
  );
  assert.equal(statSync(launcher).mode & 0o777, 0o755);
});

test("a Node that cannot run the program fills two files of a bounded size, however often launchd starts it", async (t) => {
  const script = join(scratchDirectory(t), "fails.sh");
  writeFileSync(script, `echo "Error: Cannot find module '/opt/tollkeeper/dist/main.js'" >&2\nexit 1\n`);
  const { log, start, launchd } = await installLauncher(t, { node: "/bin/sh", script });
  for (let round = 0; round < 5; round += 1) {
    // As after some hundred attempts.
    appendFileSync(log, "Error: Cannot find module\n".repeat(3_000));
    for (let attempt = 0; attempt < 3; attempt += 1) assert.equal(start(), 1);
  }
  for (const file of [log, `${log}.1`]) assert.ok(statSync(file).size < 100_000, `${file} is too large`);
  assert.match((await launchd.lastLines(1)).join(), /Cannot find module/);
});

test("a small log is left alone, and a log that cannot be moved keeps nothing from starting", async (t) => {
  const { home, log, start } = await installLauncher(t, { node: "/bin/echo", script: "/main.js" });
  writeFileSync(log, "x".repeat(60_000));
  assert.equal(start(), 0);
  assert.equal(existsSync(`${log}.1`), false);
  const { launcher } = targetFor(home);
  const missing = spawnSync(launcher, [`${home}/no/such/directory/start.log`, "/bin/echo", "started"]);
  assert.deepEqual([missing.status, String(missing.stdout)], [0, "started\n"]);
});
