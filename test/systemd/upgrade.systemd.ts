// Upgrades of the installed package under load, by npm, to versions that were really built and packed.
import { explainUnmaintainedNode } from "../../src/core/node-releases.ts";
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test, type TestContext } from "node:test";
import { programVersion } from "../../src/adapters/program.ts";
import type { CheckedFinding } from "../../src/check/check.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { packVersion, type PackedVersion } from "../helpers/package/packed-version.ts";
import { MESSAGE_EVENTS } from "../helpers/upstream/scripted-upstream.ts";
import { createAgent, sendRequest } from "./clients.ts";
import { upgradeContainer } from "./installation.ts";
import { HeldStreams, installBeforeUpstream, Load } from "./load.ts";
import { service, URL } from "./service.ts";

const STREAMS = 20;

const directory = mkdtempSync(join(tmpdir(), "tollkeeper-upgrades-"));
let next: PackedVersion;
let rebuilt: PackedVersion;

before(() => {
  next = packVersion(join(directory, "next"), { version: "99.0.0", says: "not in the next version" });
  rebuilt = packVersion(join(directory, "rebuilt"), { version: "99.0.0", says: "not after the fix" });
});
beforeEach(() => service.removeAll());
after(() => service.removeAll());
after(() => rmSync(directory, { recursive: true }));

/** Returns what the running daemon says of a path that it does not know. */
async function answerToUnknownPath(): Promise<string> {
  return (await sendRequest(createAgent(), `${URL}/unknown`)).body;
}

/** Returns what doctor finds about the version, and its fix. */
async function versionFinding(): Promise<string[]> {
  const { stdout } = await service.tollkeeper("doctor", "--json");
  const { checks } = JSON.parse(stdout) as { checks: CheckedFinding[] };
  return checks.flatMap(({ id, message, fix }) => (id === "version" ? [message, fix ?? ""] : []));
}

/** Types what doctor says, while streams run that are only then ended by their upstream. Returns the output. */
async function installDuring(streams: HeldStreams): Promise<string> {
  const installed = service.mustRun("service", "install");
  await waitUntil(
    "the drain",
    async () => (await service.property("StatusText")).startsWith("stops") || null,
  );
  streams.end();
  return installed;
}

/** Upgrades a service under load, of which the old daemon is to be `differs`. */
async function upgradeUnderLoad(t: TestContext, to: PackedVersion, differs: string): Promise<void> {
  const streams = await HeldStreams.open(await installBeforeUpstream(t), STREAMS);
  const load = new Load(t);
  await load.waitForMore();
  const old = await service.pid();
  const answer = await answerToUnknownPath();

  await upgradeContainer(to);
  await load.waitForMore();
  assert.deepEqual([await service.pid(), await answerToUnknownPath()], [old, answer]);
  const { stderr } = await service.tollkeeper("status");
  assert.equal(stderr, `note: ${differs}; replace it with: tollkeeper service install\n`);
  assert.deepEqual(await versionFinding(), [differs, "tollkeeper service install"]);

  await installDuring(streams);
  await load.waitForMore();
  await load.stop();
  t.diagnostic(load.describe());
  assert.deepEqual(load.failures, []);
  for (const body of await streams.bodies) assert.equal(body, MESSAGE_EVENTS.join(""));

  const pid = await service.pid();
  assert.notEqual(pid, old);
  assert.match(await answerToUnknownPath(), new RegExp(to.says));
  const unmaintained = explainUnmaintainedNode(process.versions.node, Date.now());
  assert.deepEqual(
    await versionFinding(),
    unmaintained === null
      ? [`tollkeeper ${to.version}, Node ${process.versions.node}`, ""]
      : [unmaintained, "install that Node, then: tollkeeper service install"],
  );
  assert.equal((await service.tollkeeper("status")).stderr, "");
  await service.mustRun("service", "install");
  assert.equal(await service.pid(), pid, "a second install restarted it");

  const endings = (await service.ledger()).map(({ route, outcome, usage, tokens }) =>
    [route, outcome, usage, tokens?.output].join(),
  );
  const count = (ending: string) => endings.filter((one) => one === ending).length;
  assert.equal(count("/messages,completed,final,2"), STREAMS);
  assert.equal(count("/models,completed,none,"), load.responseCount);
  assert.equal(endings.length, STREAMS + load.responseCount);
}

test("an upgrade to another version cuts no stream, refuses no request, and leaves one record for each", (t) => {
  const differs = `the daemon still runs tollkeeper ${programVersion()}, but this command is version 99.0.0`;
  return upgradeUnderLoad(t, next, differs);
});

test("so does an upgrade to another build of the same version", (t) =>
  upgradeUnderLoad(t, rebuilt, "the daemon still runs another build of tollkeeper 99.0.0 than this command"));
