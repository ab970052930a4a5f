import { test } from "node:test";
import {
  promptConnected,
  promptOnce,
  assertIdentified,
  connect,
  disconnect,
  openSetup,
} from "./connect-tool.ts";
import { keepResult } from "./results.ts";
import { CONNECTED_TOOLS } from "./tools.ts";

for (const tool of CONNECTED_TOOLS) {
  test(`${tool.tool} presents its local token with every request where tokens are required`, async (t) => {
    const setup = await openSetup(t, tool, { access: "token" });
    if (setup === null) return;
    await connect(setup);
    const connected = assertIdentified(setup, await promptConnected(setup), "token");
    await disconnect(setup);
    const result = { kind: "tokens", tool: tool.tool, version: tool.version, connected };
    if (!tool.hasRunSupport) return keepResult(result);
    keepResult({ ...result, "tollkeeper run": assertIdentified(setup, await promptOnce(setup), "token") });
  });
}
