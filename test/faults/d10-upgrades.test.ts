// D10, upgrades: what is installed over a running daemon changes nothing of it, and it says so; what replaces it cuts no stream, and
// refuses no connection where somebody holds the port. The versions are really built and packed. For npm and systemd themselves, see
// test/systemd/upgrade.systemd.ts.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { programVersion } from "../../src/adapters/program.ts";
import type { CheckedFinding } from "../../src/check/check.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { assertComplete, holdStreams } from "../helpers/client/many-streams.ts";
import { launchDaemon, prepareHome, startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { createFakeLaunchd, ON_MACOS } from "../helpers/launchd/fake-launchd.ts";
import { packVersion, unpackPackage } from "../helpers/package/packed-version.ts";
import { copyProject, packUnchecked } from "../helpers/package/project-copy.ts";
import { bindSockets } from "../helpers/process/bound-sockets.ts";
import { fakePrograms } from "../helpers/process/fake-programs.ts";
import { freePort } from "../helpers/process/free-port.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";

/** Where the commands run, and so where the paths that they name lead from. */
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const NEXT = "99.0.0";
const OTHER_VERSION = `the daemon still runs tollkeeper ${programVersion()}, but this command is version ${NEXT}`;
const OTHER_BUILD = `the daemon still runs another build of tollkeeper ${programVersion()} than this command`;

const packages = mkdtempSync(join(tmpdir(), "tollkeeper-packages-"));
const project = join(packages, "project");
let present: string;
/** Of the same version, with other code. */
let rebuilt: string;
let next: string;

before(() => {
  copyProject(project);
  present = packUnchecked(project, packages).tarball;
  const pack = (name: string, version: string, says: string) =>
    packVersion(join(packages, name), { version, says }).tarball;
  rebuilt = pack("rebuilt", programVersion(), "not after the fix");
  next = pack("next", NEXT, "not in the next version");
});
after(() => rmSync(packages, { recursive: true }));

/** Installs this version as npm would. Returns the program, and a function that replaces it by another one. */
function installPresent(t: TestContext): { program: string; replaceBy: (tarball: string) => void } {
  const installed = join(scratchDirectory(t), "lib", "node_modules", "tollkeeper");
  unpackPackage(present, installed, project);
  return {
    program: join(installed, "dist", "main.js"),
    replaceBy: (tarball) => unpackPackage(tarball, installed, project),
  };
}

/** Returns what doctor finds about the version, and its fix. */
async function versionFinding(daemon: Daemon): Promise<(string | null)[]> {
  const { stdout } = await daemon.command("doctor", "--json");
  const { checks } = JSON.parse(stdout) as { checks: CheckedFinding[] };
  return checks.flatMap(({ id, message, fix }) => (id === "version" ? [message, fix] : []));
}

test("status and doctor tell what a daemon that was started by hand still runs, and what they say to type replaces it without cutting a stream", async (t) => {
  const { program, replaceBy } = installPresent(t);
  const noManager = fakePrograms(t, { systemctl: [{ match: "*", code: 127 }] }).directory;
  const streams = await holdStreams(t);
  const daemon = await startDaemon(t, {
    config: streams.config,
    program,
    env: { PATH: `${noManager}:${process.env["PATH"]}` },
  });
  const clients = await streams.open(daemon.port, 3);
  assert.equal((await daemon.command("status")).stderr, "");

  let stop = "";
  let serve = "";
  const fix = "tollkeeper service stop, then: tollkeeper serve";
  for (const [tarball, differs] of [
    [rebuilt, OTHER_BUILD],
    [next, OTHER_VERSION],
  ] as const) {
    replaceBy(tarball);
    const { stdout, stderr } = await daemon.command("status");
    assert.match(stdout, new RegExp(`^daemon +tollkeeper ${programVersion()}, pid ${daemon.pid}, `, "m"));
    [, stop = "", serve = ""] =
      /^note: .*; replace it with: (node .+ service stop), then: (node .+ serve)\n$/.exec(stderr) ?? [];
    assert.equal(stderr, `note: ${differs}; replace it with: ${stop}, then: ${serve}\n`);
    assert.deepEqual(await versionFinding(daemon), [differs, fix]);
  }

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
  assert.equal((await daemon.status()).version, NEXT);
  assert.equal((await daemon.command("status")).stderr, "");
});

/** Requests the models on a new connection; returns the status, or the error. */
async function requestModels(port: number): Promise<number | string> {
  try {
    const req = request({ port, host: "127.0.0.1", path: "/v1/models", agent: false }).end();
    const [res] = (await once(req, "response")) as [IncomingMessage];
    res.resume();
    await once(res, "end");
    return res.statusCode ?? 0;
  } catch (error) {
    return String(error);
  }
}

test("through sockets that a service manager holds, an upgrade refuses no connection, cuts no stream, and leaves a record for each", async (t) => {
  const { program, replaceBy } = installPresent(t);
  const [streams, sockets, home] = [await holdStreams(t), bindSockets(t), scratchDirectory(t)];
  const options = { config: streams.config, port: sockets.port, sockets, program };
  const first = launchDaemon(home, options);
  t.after(() => first.kill());
  const old = await first.ready;
  const clients = await streams.open(sockets.port, 3);

  const load = new AbortController();
  const statuses: (number | string)[] = [];
  const clientsOfLoad = Array.from({ length: 4 }, async () => {
    while (!load.signal.aborted) statuses.push(await requestModels(sockets.port));
  });
  const waitForMore = async () => {
    const goal = statuses.length + 40;
    await waitUntil("more responses", () => statuses.length >= goal || null);
  };
  await waitForMore();
  replaceBy(next);
  await waitForMore();
  const ended = old.stop();
  await old.waitForOutput(/"msg":"stopping/);
  streams.finish();
  assert.equal(await ended, 0);
  const second = launchDaemon(home, options);
  t.after(() => second.kill());
  const upgraded = await second.ready;
  await waitForMore();
  load.abort();
  await Promise.all(clientsOfLoad);

  await assertComplete(clients);
  assert.deepEqual([...new Set(statuses)], [200]);
  assert.equal((await upgraded.status()).version, NEXT);
  const routes = (await upgraded.ledger()).map(({ route, outcome }) => `${route} ${outcome}`);
  const count = (wanted: string) => routes.filter((route) => route === wanted).length;
  assert.deepEqual(
    [count("/messages completed"), count("/models completed"), routes.length],
    [3, statuses.length, statuses.length + 3],
  );
});

test("on launchd, service install lets the old daemon finish its streams and then starts the new one", async (t) => {
  const { program, replaceBy } = installPresent(t);
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

  replaceBy(next);
  const note = new RegExp(`^note: ${OTHER_VERSION}; replace it with: .*service install$`, "m");
  assert.match((await run("status")).output, note);
  const second = run("service", "install");
  await waitUntil("the drain", async () => /, stopping$/m.test((await run("status")).output) || null);
  streams.finish();
  await assertComplete(clients);
  const { code, output } = await second;
  assert.equal(code, 0, output);
  const waiting = "waiting for 3 open requests to finish; until then new connections are refused";
  assert.match(output, new RegExp(`^${OTHER_VERSION}; restarting it\n${waiting}$`, "m"));
  assert.deepEqual(launchd.commands(), [
    `bootstrap gui/${process.getuid?.()}`,
    "kill SIGTERM",
    "kickstart -k",
  ]);
  const { output: status } = await run("status");
  assert.match(status, new RegExp(`^daemon +tollkeeper ${NEXT}, `, "m"));
  assert.doesNotMatch(status, /^note: the daemon/m);
});
