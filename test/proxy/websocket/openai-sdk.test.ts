// The WebSocket mode of the OpenAI SDK through the gate.
import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
import { startGateWithWebSockets } from "../../helpers/gate/gate-with-websocket.ts";
import { respond } from "../../helpers/upstream/websocket-upstream.ts";

test("ResponsesWS gets its responses, and each leaves a record with the usage that it was told", async (t) => {
  let asked = 0;
  const { gate } = await startGateWithWebSockets(t, {
    onMessage(socket, message) {
      asked += 1;
      respond(socket, message, { input: 100 * asked, output: asked });
    },
  });
  const client = new OpenAI({ apiKey: "tk-some-tool", baseURL: `${gate.url}/v1` });
  const socket = new ResponsesWS(client);
  t.after(() => socket.close());
  const told: number[] = [];
  await new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    const ask = () => socket.send({ type: "response.create", model: "gpt-5.5", input: "hello" });
    socket.on("response.completed", ({ response }) => {
      told.push(response.usage?.input_tokens ?? 0);
      if (told.length === 3) resolve();
      else ask();
    });
    socket.socket.on("open", ask);
  });
  const records = await gate.ledger.first(3);
  assert.deepEqual(
    records.map(({ tool, tokens }) => [tool, tokens?.input_total]),
    told.map((input) => ["some-tool", input]),
  );
});
