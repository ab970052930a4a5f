import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { askConnected, askOnce, assertTold, connect, disconnect, openBench, type Bench } from "./bench.ts";
import { filesOf, seed, snapshot, takeMarkOff } from "./home-files.ts";
import { keepResult } from "./results.ts";
import { CONNECTED_TOOLS, type ConnectedTool } from "./tools.ts";

for (const tool of CONNECTED_TOOLS) {
  test(`${tool.tool} is connected, answers, and is disconnected without a trace`, async (t) => {
    const result: Record<string, string> = { kind: "tools", tool: tool.tool, version: tool.version };
    t.after(() => keepResult(result));
    const bench = await openBench(t, tool);
    result["installed"] = bench === null ? "no" : "yes";
    if (bench === null) return;
    Object.assign(result, await withMark(bench));
    for (const asked of tool.asks) Object.assign(result, await withoutMark(bench, asked));
    // Nothing is written.
    if (tool.runs) result["tollkeeper run"] = assertTold(bench, await askOnce(bench), "path");
  });
}

async function withMark(bench: Bench): Promise<Record<string, string>> {
  const { ready, tool } = bench;
  const seeded = Object.keys(tool.seeds).map((path) => join(ready.home, path));
  const paths = [...seeded, ...filesOf(tool.tool, ready.home)];
  const before = snapshot(paths);
  await connect(bench);
  assert.notDeepEqual(snapshot(paths), before);
  const told = assertTold(bench, await askConnected(bench), "path");
  await disconnect(bench);
  assert.deepEqual(snapshot(paths), before);
  return { answered: "yes", "with mark": told, "files as before": "yes" };
}

/** The same, but for its name in the path and in the key's place. */
async function withoutMark(
  bench: Bench,
  { model, by }: ConnectedTool["asks"][number],
): Promise<Record<string, string>> {
  const { ready, tool } = bench;
  await connect(bench, model);
  takeMarkOff(tool.tool, ready.home);
  const records = await askConnected(bench);
  const [route = ""] = records.map((record) => record.route);
  seed(ready.home, tool.seeds);
  return { [`without it, ${route}`]: assertTold(bench, records, by) };
}
