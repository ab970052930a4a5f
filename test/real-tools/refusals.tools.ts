import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { TEST_KEY } from "../helpers/gate/gate.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { installTool } from "../helpers/tools/real-tool.ts";
import { connect, expectSuccess, runConnected, type InstalledSetup } from "./connect-tool.ts";
import { writeSeeds } from "./home-files.ts";
import { keepResult } from "./results.ts";
import { CONNECTED_TOOLS, type ConnectedTool } from "./tools.ts";

const NOWHERE = "http://127.0.0.1:9/v1";

/** Why requests are refused although the tool is connected, and what it must show of that. */
interface Refusal {
  config(t: TestContext): object;
  /** Called once the tool is connected. */
  prepare?(daemon: Daemon, tool: string): Promise<unknown>;
  message(tool: string): string;
}

const REFUSALS: Record<string, Refusal> = {
  "no key": {
    config: () => ({ upstreams: { default: { baseUrl: NOWHERE, keySource: { file: "/no/such/file" } } } }),
    message: () => "tollkeeper cannot read the key: ",
  },
  "no token": {
    config: (t) => ({ access: "token", ...writeKeyFile(t, NOWHERE, TEST_KEY).config }),
    prepare: (daemon, tool) => expectSuccess(daemon.command("token", "revoke", tool)),
    message: () => "tollkeeper: no local token: ",
  },
};

for (const tool of CONNECTED_TOOLS) {
  test(`${tool.tool} stops at the first refusal that a retry cannot help, and shows what to type`, async (t) => {
    const result: Record<string, string> = { kind: "refusals", tool: tool.tool, version: tool.version };
    t.after(() => keepResult(result));
    const installed = await installTool(t, tool);
    if (installed === null) return;
    for (const [what, refusal] of Object.entries(REFUSALS)) {
      for (const { model } of tool.models) {
        writeSeeds(installed.home, tool.seeds);
        const daemon = await startDaemon(t, { config: refusal.config(t) });
        const setup = { t, tool, installed, daemon };
        await connect(setup, model);
        await refusal.prepare?.(daemon, tool.tool);
        result[`${what}, ${model}`] = await assertStops(setup, refusal.message(tool.tool));
      }
    }
  });
}

/** Fails unless each request of the prompt is refused once, and the message is shown. Returns a cell of the table. */
async function assertStops(setup: InstalledSetup, message: string): Promise<string> {
  const { daemon, tool }: { daemon: Daemon; tool: ConnectedTool } = setup;
  const { code, stdout, stderr } = await runConnected(setup);
  const isShown = `${stdout}${stderr}`.includes(message);
  // Lists of models, for which `connect` and Claude Code's model discovery ask, are refused, too.
  const records = (await daemon.ledger()).filter(({ route }) => route !== "/models");
  assert.equal(records.length, tool.refusedRequests ?? 1, stdout + stderr);
  assert.ok(
    records.every(({ outcome, status }) => outcome === "rejected" && [400, 402].includes(status ?? 0)),
  );
  assert.equal(isShown, tool.hidesErrors !== true, stdout + stderr);
  assert.notEqual(code, 0);
  return `${records.length}, ${isShown ? "shown" : "hidden"}`;
}
