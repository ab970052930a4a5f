// Runs as a separate process, for tests that examine all its output: starts a gate and sends one request through it to
// the upstream whose base URL is the first argument.
import type { TestContext } from "node:test";
import { post, startGate } from "../gate/gate.ts";

const endings: (() => unknown)[] = [];
const context = { after: (end: () => unknown) => void endings.push(end) } as unknown as TestContext;
const gate = await startGate(context, process.argv[2] ?? "");
await (await post(gate, "/v1/messages", { model: "m" })).text();
for (const end of endings) await end();
