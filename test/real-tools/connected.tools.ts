import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import {
  promptConnected,
  promptOnce,
  assertIdentified,
  connect,
  disconnect,
  openSetup,
  type InstalledSetup,
} from "./connect-tool.ts";
import { listFiles, writeSeeds, snapshot, removeMark } from "./home-files.ts";
import { keepResult } from "./results.ts";
import { CONNECTED_TOOLS, type ConnectedTool } from "./tools.ts";

for (const tool of CONNECTED_TOOLS) {
  test(`${tool.tool} can be connected, works, and is disconnected without a trace`, async (t) => {
    const result: Record<string, string> = { kind: "tools", tool: tool.tool, version: tool.version };
    t.after(() => keepResult(result));
    const setup = await openSetup(t, tool);
    result["installed"] = setup === null ? "no" : "yes";
    if (setup === null) return;
    Object.assign(result, await withMark(setup));
    for (const asked of tool.models) Object.assign(result, await withoutMark(setup, asked));
    // `run` writes no settings.
    if (tool.hasRunSupport)
      result["tollkeeper run"] = assertIdentified(setup, await promptOnce(setup), "path");
  });
}

async function withMark(setup: InstalledSetup): Promise<Record<string, string>> {
  const { installed, tool } = setup;
  const seeded = Object.keys(tool.seeds).map((path) => join(installed.home, path));
  const paths = [...seeded, ...listFiles(tool.tool, installed.home)];
  const before = snapshot(paths);
  await connect(setup);
  assert.notDeepEqual(snapshot(paths), before);
  const identities = assertIdentified(setup, await promptConnected(setup), "path");
  await disconnect(setup);
  assert.deepEqual(snapshot(paths), before);
  return { worked: "yes", "with mark": identities, "files as before": "yes" };
}

/** Connects the tool and removes its name from the path and from the place of the key. */
async function withoutMark(
  setup: InstalledSetup,
  { model, by }: ConnectedTool["models"][number],
): Promise<Record<string, string>> {
  const { installed, tool } = setup;
  await connect(setup, model);
  removeMark(tool.tool, installed.home);
  const records = await promptConnected(setup);
  const [route = ""] = records.map((record) => record.route);
  writeSeeds(installed.home, tool.seeds);
  return { [`without it, ${route}`]: assertIdentified(setup, records, by) };
}
