import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { assertLedgerMatchesBilling, startDaemonWithModelServer } from "../helpers/ledger/sandbox-billing.ts";
import { installTool } from "../helpers/tools/real-tool.ts";
import { assertIdentified, connect, disconnect, promptConnected } from "./connect-tool.ts";
import { listFiles, removeMark, snapshot, writeSeeds } from "./home-files.ts";
import { keepResult } from "./results.ts";
import { CONNECTED_TOOLS } from "./tools.ts";

/** A model of the local server, which only Chat Completions serves. */
const MODEL = "qwen3-coder:30b";

for (const tool of CONNECTED_TOOLS) {
  const { chatBy } = tool;
  if (chatBy === undefined) continue;
  test(`${tool.tool} is connected to Chat Completions, and all of its usage is known`, async (t) => {
    const result: Record<string, string> = { kind: "chat", tool: tool.tool, version: tool.version };
    t.after(() => keepResult(result));
    const installed = await installTool(t, tool);
    if (installed === null) return;
    writeSeeds(installed.home, tool.seeds);
    const { daemon, sandbox } = await startDaemonWithModelServer(t);
    const setup = { t, tool, installed, daemon };
    const seeded = Object.keys(tool.seeds).map((path) => join(installed.home, path));
    const paths = [...seeded, ...listFiles(tool.tool, installed.home)];
    const before = snapshot(paths);
    await connect(setup, MODEL);
    result["with mark"] = assertIdentified(setup, await promptConnected(setup), "path");
    await disconnect(setup);
    assert.deepEqual(snapshot(paths), before);
    await connect(setup, MODEL);
    removeMark(tool.tool, installed.home);
    result["without it"] = assertIdentified(setup, await promptConnected(setup), chatBy);
    const records = await daemon.ledger();
    const states = records.map(({ route, stream, usage }) => `${route} ${stream} ${usage}`);
    result["records"] = [...new Set(states)].join(", ");
    assert.ok(
      records.some(({ route }) => route === "/chat/completions"),
      states.join(),
    );
    assert.ok(
      records.every(({ usage }) => usage === "final" || usage === "none"),
      states.join(),
    );
    // The server takes no key, which its books call none.
    assertLedgerMatchesBilling(
      records.map((record) => ({ ...record, key: "none" })),
      sandbox,
    );
  });
}
