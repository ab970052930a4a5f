// Upgrades to a version that was really built and packed: of a daemon that was started by hand, and of launchd's. For systemd's,
// see test/systemd/upgrade.systemd.ts.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { programVersion } from "../../../src/adapters/program.ts";
import type { CheckedFinding } from "../../../src/check/check.ts";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { assertComplete, holdStreams } from "../../helpers/client/many-streams.ts";
import { prepareHome, startDaemon } from "../../helpers/daemon/daemon.ts";
import { createFakeLaunchd, ON_MACOS } from "../../helpers/launchd/fake-launchd.ts";
import { packVersion, unpackPackage } from "../../helpers/package/packed-version.ts";
import { copyProject, packProject } from "../../helpers/package/project-copy.ts";
import { fakePrograms } from "../../helpers/process/fake-programs.ts";
import { freePort } from "../../helpers/process/free-port.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

/** Where the commands run, and so where the paths that they name lead from. */
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const DIFFERS = `the daemon still runs tollkeeper ${programVersion()}, and this command is 99.0.0`;

const packages = mkdtempSync(join(tmpdir(), "tollkeeper-packages-"));
const project = join(packages, "project");
let present: string;
let next: string;

before(() => {
  copyProject(project);
  present = packProject(project, packages).tarball;
  const changes = { version: "99.0.0", says: "not in the next version" };
  next = packVersion(join(packages, "next"), changes).tarball;
});
after(() => rmSync(packages, { recursive: true }));

/** Installs this version as npm would. Returns the program, and a function that replaces it by version 99.0.0. */
function installPresent(t: TestContext): { program: string; upgrade: () => void } {
  const installed = join(scratchDirectory(t), "lib", "node_modules", "tollkeeper");
  unpackPackage(present, installed, project);
  return {
    program: join(installed, "dist", "main.js"),
    upgrade: () => unpackPackage(next, installed, project),
  };
}

test("after an upgrade, status and doctor tell what the daemon still runs, and what they say to type replaces it without cutting a stream", async (t) => {
  const { program, upgrade } = installPresent(t);
  const noManager = fakePrograms(t, { systemctl: [{ match: "*", code: 127 }] }).directory;
  const streams = await holdStreams(t);
  const daemon = await startDaemon(t, {
    config: streams.config,
    program,
    env: { PATH: `${noManager}:${process.env["PATH"]}` },
  });
  const clients = await streams.open(daemon.port, 3);
  assert.equal((await daemon.command("status")).stderr, "");

  upgrade();
  const { stdout, stderr } = await daemon.command("status");
  assert.match(stdout, new RegExp(`^daemon +tollkeeper ${programVersion()}, pid ${daemon.pid}, `, "m"));
  const [, stop = "", serve = ""] =
    /^note: .*; replace it with: (node .+ service stop), then: (node .+ serve --config .+)\n$/.exec(stderr) ??
    [];
  assert.equal(stderr, `note: ${DIFFERS}; replace it with: ${stop}, then: ${serve}\n`);
  const doctor = JSON.parse((await daemon.command("doctor", "--json")).stdout) as {
    checks: CheckedFinding[];
  };
  const finding = doctor.checks.find(({ id }) => id === "version");
  const fix = `tollkeeper service stop, then: tollkeeper serve --config ${daemon.configFile}`;
  assert.deepEqual([finding?.message, finding?.fix], [DIFFERS, fix]);

  const type = (command: string) =>
    spawn(command, { shell: true, cwd: ROOT, env: daemon.env, stdio: "ignore" });
  const stopped = once(type(stop), "exit");
  await daemon.waitForOutput(/"msg":"stopping/);
  streams.finish();
  await assertComplete(clients);
  assert.deepEqual([await daemon.ended, (await stopped)[0]], [0, 0]);
  const upgraded = type(`exec ${serve}`);
  t.after(() => upgraded.kill("SIGKILL"));
  await waitUntil("the new daemon", async () => (await daemon.status().catch(() => null)) ?? null);
  assert.equal((await daemon.status()).version, "99.0.0");
  assert.equal((await daemon.command("status")).stderr, "");
});

test("on launchd, service install after an upgrade lets the old daemon finish its streams and then starts the new one", async (t) => {
  const { program, upgrade } = installPresent(t);
  const streams = await holdStreams(t);
  const port = await freePort();
  const { home, configFile, env } = prepareHome(t, { config: { ...streams.config, listen: { port } } });
  const log = join(home, "Library", "Logs", "tollkeeper", "tollkeeper.log");
  const launchd = createFakeLaunchd(t, [
    process.execPath,
    program,
    "serve",
    "--log-file",
    log,
    "--config",
    configFile,
  ]);
  const macEnv = { ...env, PATH: `${launchd.directory}:${env["PATH"]}`, NODE_OPTIONS: ON_MACOS };
  const run = async (...args: string[]) => {
    const child = spawn(process.execPath, [program, ...args], { cwd: ROOT, env: macEnv });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => (output += String(chunk)));
    return { code: ((await once(child, "close")) as [number | null])[0], output };
  };
  const first = await run("service", "install", "--config", configFile);
  assert.equal(first.code, 0, first.output);
  const clients = await streams.open(port, 3);

  upgrade();
  assert.match(
    (await run("status")).output,
    new RegExp(`^note: ${DIFFERS}; replace it with: .*service install$`, "m"),
  );
  const second = run("service", "install");
  await waitUntil("the drain", async () => /, stopping$/m.test((await run("status")).output) || null);
  streams.finish();
  await assertComplete(clients);
  const { code, output } = await second;
  assert.equal(code, 0, output);
  assert.match(
    output,
    new RegExp(
      `^${DIFFERS}: it is restarted\nwaiting for 3 open exchanges, which may finish first; until then new connections are refused$`,
      "m",
    ),
  );
  assert.deepEqual(launchd.commands(), [
    `bootstrap gui/${process.getuid?.()}`,
    "kill SIGTERM",
    "kickstart -k",
  ]);
  const { output: status } = await run("status");
  assert.match(status, /^daemon +tollkeeper 99\.0\.0, /m);
  assert.doesNotMatch(status, /^note: the daemon/m);
});
