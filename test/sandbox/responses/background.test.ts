import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bearer,
  valueAt,
  eventOrder,
  openSandbox,
  post,
  readEvents,
  responsesRequest,
} from "../sandbox-client.ts";

test("a background response is queued with status 200, completed by the first fetch, and billed once", async (t) => {
  const sandbox = await openSandbox(t);
  const response = await post(sandbox, "/responses", responsesRequest({ background: true }));
  assert.equal(response.status, 200);
  const queued = await response.json();
  assert.equal(valueAt(queued, "status"), "queued");
  assert.equal(valueAt(queued, "usage"), null);
  assert.deepEqual(valueAt(queued, "output"), []);
  assert.equal(valueAt(sandbox.counts(), 0, "count", "output"), 0);

  const url = `${sandbox.baseUrl}/responses/${String(valueAt(queued, "id"))}`;
  const first = await (await fetch(url, { headers: bearer(sandbox) })).json();
  const second = await (await fetch(url, { headers: bearer(sandbox) })).json();
  assert.equal(valueAt(first, "id"), valueAt(queued, "id"));
  assert.equal(valueAt(first, "status"), "completed");
  assert.deepEqual(second, first);
  assert.deepEqual(
    sandbox.counts().map(({ route, count }) => [route, count.requests, count.output]),
    [
      ["/responses", 1, valueAt(first, "usage", "output_tokens")],
      ["/responses/{id}", 2, 0],
    ],
  );
});

test("a streamed background response contains a response.queued event", async (t) => {
  const sandbox = await openSandbox(t);
  const request = responsesRequest({ background: true, stream: true });
  const events = readEvents(await (await post(sandbox, "/responses", request)).text());
  assert.deepEqual(eventOrder(events).slice(0, 3), [
    "response.created",
    "response.queued",
    "response.in_progress",
  ]);
  assert.equal(valueAt(events[0], "data", "response", "status"), "queued");
  assert.equal(events.at(-1)?.name, "response.completed");
});

test("fetching a response gets 404 with another key, with an unknown id, or when store was false", async (t) => {
  const sandbox = await openSandbox(t);
  const kept = valueAt(await (await post(sandbox, "/responses", responsesRequest())).json(), "id");
  const unkept = valueAt(
    await (await post(sandbox, "/responses", responsesRequest({ store: false }))).json(),
    "id",
  );
  const find = async (id: unknown, secret?: string): Promise<number> => {
    const headers = secret === undefined ? bearer(sandbox) : { authorization: `Bearer ${secret}` };
    return (await fetch(`${sandbox.baseUrl}/responses/${String(id)}`, { headers })).status;
  };
  assert.equal(await find(kept), 200);
  assert.equal(await find(kept, sandbox.keys[1]?.secret), 404);
  assert.equal(await find(unkept), 404);
  assert.equal(await find("resp_lost"), 404);
});
