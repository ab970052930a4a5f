import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { ListedTool } from "../../src/cli/connect/list-tools.ts";
import { parseJsonOutput } from "../helpers/daemon/json-output.ts";
import { sendJson, startUpstream, type ScriptedUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { CONFLICT_CASES, type ConflictCase } from "./conflicts.ts";
import {
  connect,
  disconnect,
  expectSuccess,
  openSetup,
  runConnected,
  runTollkeeper,
} from "./connect-tool.ts";
import type { InstalledSetup } from "./connect-tool.ts";
import { listFiles, snapshot, writeSeeds } from "./home-files.ts";
import { keepResult } from "./results.ts";
import type { Seeds } from "./seeds.ts";
import { CONNECTED_TOOLS } from "./tools.ts";

/** A tool that is set up for another service. */
interface ConflictSetup extends InstalledSetup {
  other: ScriptedUpstream;
  conflict: ConflictCase;
}

for (const conflict of CONFLICT_CASES) {
  test(`${conflict.tool} with ${conflict.what}: where its requests go is known and told`, async (t) => {
    const setup = await openConflict(t, conflict);
    if (setup === null) return;
    const result = conflict.kind === "before" ? await changedByConnecting(setup) : await writtenLater(setup);
    keepResult({ kind: "conflicts", tool: conflict.tool, what: conflict.what, ...result });
  });
}

async function openConflict(t: TestContext, conflict: ConflictCase): Promise<ConflictSetup | null> {
  const tool = CONNECTED_TOOLS.find((one) => one.tool === conflict.tool);
  assert.ok(tool);
  const { needsModel, ...rest } = tool;
  const setup = await openSetup(t, {
    ...rest,
    ...(needsModel === true && conflict.kind !== "before" && { needsModel }),
    seeds: {},
    prompt: conflict.prompt ?? tool.prompt,
  });
  if (setup === null) return null;
  // The tool keeps what it remembers where `connect` looks for it.
  setup.installed.env["XDG_STATE_HOME"] = join(setup.installed.home, ".local", "state");
  const other = await startUpstream(t, (_seen, res) => {
    sendJson(res, { error: { type: "invalid_request_error", message: "another service" } }, 400);
  });
  return { ...setup, other, conflict };
}

/** The tool is used with another service, connected, asked and disconnected. */
async function changedByConnecting(setup: ConflictSetup): Promise<Record<string, string>> {
  const { installed, conflict } = setup;
  writeConflict(setup);
  const seeded = Object.keys(conflict.seeds).map((path) => join(installed.home, path));
  const paths = [...new Set([...seeded, ...listFiles(conflict.tool, installed.home)])];
  const before = snapshot(paths);
  const unconnected = await whereRequestsGo(setup);
  assert.notEqual(unconnected, "tollkeeper");
  writeConflict(setup);
  await connect(setup, conflict.model);
  assert.deepEqual(await listConflicts(setup), []);
  const connected = await whereRequestsGo(setup);
  assert.equal(connected, "tollkeeper");
  await disconnect(setup);
  assert.deepEqual(snapshot(paths), before);
  return { "before connect": unconnected, connected, "files as before": "yes" };
}

/** The tool is connected, set up for another service by its user, and repaired by the command that is named. */
async function writtenLater(setup: ConflictSetup): Promise<Record<string, string>> {
  const { t, daemon, installed, conflict } = setup;
  await connect(setup, conflict.model);
  writeConflict(setup);
  const later = await whereRequestsGo(setup);
  assert.equal(later, "the other service");
  const [found] = await listConflicts(setup);
  assert.ok(found);
  assert.match(`${found.where} ${found.what}`, /^~\/\S+:\d+ \(\S+\) sends requests elsewhere: /);
  if (conflict.kind === "told") return { connected: later, told: found.where };
  const command = /tollkeeper (connect .*)$/.exec(found.fix)?.[1] ?? "";
  await expectSuccess(runTollkeeper(t, daemon, installed, ...command.split(" "), "--yes"));
  assert.deepEqual(await listConflicts(setup), []);
  const mended = await whereRequestsGo(setup);
  assert.equal(mended, "tollkeeper");
  return { connected: later, told: found.where, mended };
}

/** Writes the settings that lead elsewhere; to a shell's start-up file they are added. */
function writeConflict({ installed, other, conflict }: ConflictSetup): void {
  const texts = Object.entries(conflict.seeds).map(([path, text]) => {
    const own = path === ".bashrc" ? readText(join(installed.home, path)) : "";
    return [path, own + text.replaceAll("%URL%", other.origin)];
  });
  writeSeeds(installed.home, Object.fromEntries(texts) as Seeds);
}

function readText(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

/** Asks the tool, and returns where its requests arrived. */
async function whereRequestsGo(
  setup: ConflictSetup,
): Promise<"tollkeeper" | "the other service" | "nowhere"> {
  const { daemon, other } = setup;
  const before = (await daemon.ledger()).length;
  other.seen.length = 0;
  await runConnected(setup);
  const isOurs = (await daemon.ledger()).length > before;
  assert.ok(!(isOurs && other.seen.length > 0), "some requests went elsewhere");
  if (isOurs) return "tollkeeper";
  return other.seen.length > 0 ? "the other service" : "nowhere";
}

/** Returns what `connect --list` says of settings that send the tool's requests elsewhere. */
async function listConflicts({ t, daemon, installed, conflict }: ConflictSetup) {
  const printed = await expectSuccess(runTollkeeper(t, daemon, installed, "connect", "--list", "--json"));
  const tools = parseJsonOutput(printed) as ListedTool[];
  const { connections = [] } = tools.find(({ tool }) => tool === conflict.tool) ?? {};
  return connections.flatMap(({ conflicts }) => conflicts.filter(({ effect }) => effect === "elsewhere"));
}
