import { test } from "node:test";
import { askConnected, askOnce, assertTold, connect, disconnect, openBench } from "./bench.ts";
import { keepResult } from "./results.ts";
import { CONNECTED_TOOLS } from "./tools.ts";

for (const tool of CONNECTED_TOOLS) {
  test(`${tool.tool} shows its local token with every request, where tokens are asked for`, async (t) => {
    const bench = await openBench(t, tool, { access: "token" });
    if (bench === null) return;
    await connect(bench);
    const connected = assertTold(bench, await askConnected(bench), "token");
    await disconnect(bench);
    const result = { kind: "tokens", tool: tool.tool, version: tool.version, connected };
    if (!tool.runs) return keepResult(result);
    keepResult({ ...result, "tollkeeper run": assertTold(bench, await askOnce(bench), "token") });
  });
}
