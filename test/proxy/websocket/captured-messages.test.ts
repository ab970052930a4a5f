// On a WebSocket, each response is copied with the message that asked for it, whatever comes between.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Captures } from "../../../src/ports.ts";
import { CREATE, openThroughGate } from "../../helpers/gate/gate-with-websocket.ts";
import { begin, complete, type SeenMessage } from "../../helpers/upstream/websocket-upstream.ts";

test("messages and events are copied response by response, and no more once the capture is over", async (t) => {
  const copies: { request: string; response: string; id: string | null }[] = [];
  const captures: Captures & { isOn: boolean } = {
    isOn: true,
    open(request) {
      assert.deepEqual([request.method, request.path], ["POST", "/v1/responses"]);
      const copy: (typeof copies)[number] = { request: "", response: "", id: null };
      copies.push(copy);
      return {
        sawRequestBytes: (bytes) => void (copy.request += bytes.toString()),
        sawResponse: () => assert.fail("a message has no head"),
        sawResponseBytes: (bytes) => void (copy.response += bytes.toString()),
        end: (record) => void (copy.id = record.response_id),
      };
    },
  };
  const waiting: (() => void)[] = [];
  const { client } = await openThroughGate(t, {
    captures,
    onMessage(socket, message: SeenMessage) {
      const response = begin(socket, message);
      waiting.push(() => complete(socket, message, response));
      // Both are under way before one of them ends.
      if (waiting.length === 2) for (const end of waiting.toReversed()) end();
    },
  });
  const [first, second] = [
    { ...CREATE, stream_id: "one" },
    { ...CREATE, stream_id: "two" },
  ];
  client.send(first);
  await client.until(({ type }) => type === "response.created");
  captures.isOn = false;
  client.send(second);
  for (let ended = 0; ended < 2; ended += 1) await client.until(({ type }) => type === "response.completed");
  assert.equal(copies.length, 1);
  const [{ request, response, id }] = copies as [(typeof copies)[number]];
  assert.deepEqual(JSON.parse(request), first);
  const events = response
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; response: { id: string } });
  assert.equal(events.at(-1)?.type, "response.completed");
  assert.ok(events.length >= 2 && events.every((event) => (event.response?.id ?? id) === id));
});
