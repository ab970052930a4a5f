import assert from "node:assert/strict";
import { test } from "node:test";
import { bearer, dig, eventOrder, openSandbox, post, readEvents, responsesRequest } from "../support.ts";

test("a background response is queued with status 200, finished when fetched, and billed once", async (t) => {
  const sandbox = await openSandbox(t);
  const answer = await post(sandbox, "/responses", responsesRequest({ background: true }));
  assert.equal(answer.status, 200);
  const queued = await answer.json();
  assert.equal(dig(queued, "status"), "queued");
  assert.equal(dig(queued, "usage"), null);
  assert.deepEqual(dig(queued, "output"), []);
  assert.equal(dig(sandbox.counts(), 0, "count", "output"), 0);

  const url = `${sandbox.baseUrl}/responses/${String(dig(queued, "id"))}`;
  const first = await (await fetch(url, { headers: bearer(sandbox) })).json();
  const second = await (await fetch(url, { headers: bearer(sandbox) })).json();
  assert.equal(dig(first, "id"), dig(queued, "id"));
  assert.equal(dig(first, "status"), "completed");
  assert.deepEqual(second, first);
  assert.deepEqual(
    sandbox.counts().map(({ route, count }) => [route, count.requests, count.output]),
    [
      ["/responses", 1, dig(first, "usage", "output_tokens")],
      ["/responses/{id}", 2, 0],
    ],
  );
});

test("a streamed background response says that it was queued", async (t) => {
  const sandbox = await openSandbox(t);
  const request = responsesRequest({ background: true, stream: true });
  const events = readEvents(await (await post(sandbox, "/responses", request)).text());
  assert.deepEqual(eventOrder(events).slice(0, 3), [
    "response.created",
    "response.queued",
    "response.in_progress",
  ]);
  assert.equal(dig(events[0], "data", "response", "status"), "queued");
  assert.equal(events.at(-1)?.name, "response.completed");
});

test("a response is not found by another key, by an unknown id, or when it was not to be stored", async (t) => {
  const sandbox = await openSandbox(t);
  const kept = dig(await (await post(sandbox, "/responses", responsesRequest())).json(), "id");
  const unkept = dig(
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
