// A daemon that was started with a configuration file of its own names it in the commands of its refusals: others would act on another file.
import assert from "node:assert/strict";
import { test } from "node:test";
import { beginRequest, sendRaw } from "../../helpers/client/raw-client.ts";
import { isTerminal } from "../../helpers/client/websocket.ts";
import { rulesForTools } from "../../helpers/config/rules-for-tools.ts";
import { CREATE, openThroughGate } from "../../helpers/gate/gate-with-websocket.ts";
import { post } from "../../helpers/gate/gate.ts";
import { startGateWithUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { respondWithMessage } from "../../helpers/upstream/scripted-upstream.ts";

const FILE = "/home/ada/my own.jsonc";
const OPTION = "--config '/home/ada/my own.jsonc'";
const ONLY_A = rulesForTools({ groups: { small: { models: ["a"] } }, tools: { "*": { group: "small" } } });

test("a refused request, and a head that cannot be read, name the configuration file", async (t) => {
  const { gate } = await startGateWithUpstream(t, respondWithMessage, { configFile: FILE, config: ONLY_A });
  const refused = await post(gate, "/v1/messages", { model: "b", max_tokens: 1, messages: [] });
  assert.ok((await refused.text()).includes(` Type: tollkeeper ${OPTION} config edit"`));
  const lost = await post(gate, "/v1/nowhere", {});
  assert.ok((await lost.text()).includes(` Type: tollkeeper ${OPTION} config edit"`));
  const client = await sendRaw(t, gate.port, beginRequest(gate.port, `X: ${"x".repeat(40_000)}`));
  assert.ok((await client.closed).includes(` Type: tollkeeper ${OPTION} check"`));
});

test("a refused message on a WebSocket names the configuration file", async (t) => {
  const { client } = await openThroughGate(t, { configFile: FILE, config: ONLY_A });
  client.send(CREATE);
  const { error } = await client.until(isTerminal);
  assert.ok(error?.message?.endsWith(` Type: tollkeeper ${OPTION} config edit`), error?.message);
});
