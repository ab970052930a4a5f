import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { withResolvers } from "../helpers/async/with-resolvers.ts";
import { rulesForTools } from "../helpers/config/rules-for-tools.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { startGateWithUpstreams, useConfig } from "../helpers/gate/gate-with-upstreams.ts";
import { post, type TestGate } from "../helpers/gate/gate.ts";
import { ManualClock } from "../helpers/gate/memory.ts";
import { RecordingBudgets } from "../helpers/gate/recording-budgets.ts";
import { rawClient } from "../helpers/client/raw-client.ts";
import { respondWithMessage, sendJson } from "../helpers/upstream/scripted-upstream.ts";

const LIMIT = { timeout: 300_000 };
const BODY = { model: "claude-sonnet-5", max_tokens: 9, messages: [] };

/** A gate with the brakes of a configuration file, whose clock stands still. */
async function start(t: TestContext, file: object, budgets = new RecordingBudgets()) {
  const clock = new ManualClock();
  const config = rulesForTools(file);
  return { clock, ...(await startGateWithUpstream(t, respondWithMessage, { config, clock, budgets })) };
}

/** Sends a request and returns the code of its refusal, or its status. */
async function send(gate: TestGate, path: string, body: object = BODY): Promise<string | number> {
  const response = await post(gate, path, body);
  await response.text();
  return response.headers.get("x-tollkeeper-refusal") ?? response.status;
}

/** As {@link send}, one after the other. */
async function sendAll(
  gate: TestGate,
  paths: readonly string[],
  body?: object,
): Promise<(string | number)[]> {
  const results: (string | number)[] = [];
  for (const path of paths) results.push(await send(gate, path, body));
  return results;
}

const CODEX = "/t/codex/v1/messages";
const ZED = "/t/zed/v1/messages";
const PI = "/t/pi/v1/messages";

test("a tool's brake counts its requests, and a group's those of all its tools", LIMIT, async (t) => {
  const { gate, clock, upstream } = await start(t, {
    tools: { codex: { brake: { requestsPerMinute: 2 }, group: "small" }, zed: { group: "small" } },
    groups: { small: { brake: { requestsPerMinute: 3 } } },
  });
  assert.deepEqual(await sendAll(gate, [CODEX, CODEX, CODEX, ZED, ZED, PI]), [
    200,
    200,
    "braked",
    200,
    "braked",
    200,
  ]);
  assert.equal(upstream.seen.length, 4);
  clock.advance(20_000);
  assert.deepEqual(await sendAll(gate, [ZED, ZED]), [200, "braked"]);
});

test("what a brake refuses is final for tools, says why, and is recorded", LIMIT, async (t) => {
  const { gate, upstream } = await start(t, { tools: { codex: { brake: { requestsPerMinute: 1 } } } });
  await send(gate, CODEX);
  for (const [path, status] of [
    ["/v1/messages", 402],
    ["/v1/responses", 400],
    ["/v1/chat/completions", 400],
  ] as const) {
    const response = await post(gate, `/t/codex${path}`, BODY);
    const { error } = (await response.json()) as { error: { message: string } };
    assert.equal(response.status, status);
    assert.equal(response.headers.get("x-should-retry"), "false");
    assert.equal(
      error.message,
      "tollkeeper: codex is too fast: tools.codex.brake allows 1 request per minute. The next may go in 60 s. Type: tollkeeper config edit",
    );
  }
  assert.equal(upstream.seen.length, 1);
  const records = await gate.ledger.first(4);
  assert.deepEqual(
    records.map(({ outcome, error_type }) => [outcome, error_type]),
    [["completed", null], ...Array.from({ length: 3 }, () => ["rejected", "braked"])],
  );
});

test("free requests and polling neither count nor are refused", LIMIT, async (t) => {
  const { gate } = await start(t, { tools: { codex: { brake: { requestsPerMinute: 1, concurrent: 1 } } } });
  const free = "/t/codex/v1/messages/count_tokens";
  assert.deepEqual(await sendAll(gate, [free, free, CODEX, free, CODEX]), [200, 200, 200, 200, "braked"]);
  assert.equal((await fetch(`${gate.url}/t/codex/v1/models`)).status, 200);
});

test(
  "a repeated request is one with the same path in whose body a model reads the same",
  LIMIT,
  async (t) => {
    const { gate, clock, upstream } = await start(t, {
      tools: { codex: { brake: { same: { times: 2, minutes: 10 } } } },
    });
    const other = { ...BODY, messages: [{ role: "user", content: "another" }] };
    const same = { ...BODY, max_tokens: 10, model: " claude-sonnet-5" };
    assert.deepEqual(await sendAll(gate, [CODEX, CODEX, CODEX, "/t/codex/v1/chat/completions"]), [
      200,
      200,
      "braked",
      200,
    ]);
    assert.deepEqual(await sendAll(gate, [CODEX, CODEX, CODEX], other), [200, 200, "braked"]);
    assert.equal(await send(gate, CODEX, same), "braked");
    clock.advance(10 * 60_000);
    assert.equal(await send(gate, CODEX), 200);
    assert.deepEqual(
      upstream.seen.map(({ body }) => body.toString()),
      [BODY, BODY, BODY, other, other, BODY].map((body) => JSON.stringify(body)),
    );
  },
);

test(
  "bodies of any size and encoding are compared, and reach the upstream as they were sent",
  LIMIT,
  async (t) => {
    const { gate, upstream } = await start(t, {
      tools: { codex: { brake: { same: { times: 1, minutes: 1 } } } },
    });
    const large = { ...BODY, system: "x".repeat(3_000_000) };
    assert.deepEqual(await sendAll(gate, [CODEX, CODEX], large), [200, "braked"]);
    const gzipped = gzipSync(JSON.stringify(BODY));
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    const sendGzipped = async () => {
      const response = await fetch(gate.url + CODEX, { method: "POST", headers, body: gzipped });
      await response.text();
      return response.status;
    };
    assert.deepEqual([await sendGzipped(), await sendGzipped()], [200, 402]);
    assert.deepEqual(
      upstream.seen.map(
        ({ body }) => body.equals(Buffer.from(JSON.stringify(large))) || body.equals(gzipped),
      ),
      [true, true],
    );
  },
);

test("bodies are also compared where the model chooses the upstream", LIMIT, async (t) => {
  const { gate, upstream } = await start(t, {
    tools: { codex: { group: "small" } },
    groups: { small: { models: ["claude-*"], brake: { same: { times: 1, minutes: 1 } } } },
  });
  assert.deepEqual(await sendAll(gate, [CODEX, CODEX]), [200, "braked"]);
  assert.equal(upstream.seen.length, 1);
});

test("a client that sends its body in pieces and leaves leaves no trace", LIMIT, async (t) => {
  const { gate, upstream } = await start(t, {
    tools: { codex: { brake: { same: { times: 1, minutes: 1 } } } },
  });
  const client = await rawClient(t, gate.port);
  client.write(
    `POST ${CODEX} HTTP/1.1\r\nhost: localhost:${gate.port}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"model":`,
  );
  client.socket.destroy();
  await client.closed;
  assert.equal(await send(gate, PI), 200);
  assert.deepEqual([upstream.seen.length, gate.gate.bufferedBytes, gate.gate.openExchanges], [1, 0, 0]);
});

test("a stream counts as running until it ends", LIMIT, async (t) => {
  const config = rulesForTools({ tools: { codex: { brake: { concurrent: 1 } } } });
  const { promise: held, resolve } = withResolvers<ServerResponse>();
  let asked = 0;
  const { gate } = await startGateWithUpstream(
    t,
    (seen, res) => ((asked += 1) === 1 ? resolve(res) : respondWithMessage(seen, res)),
    { config },
  );
  const running = send(gate, CODEX);
  const response = await held;
  assert.equal(await send(gate, CODEX), "braked");
  sendJson(response, {});
  assert.equal(await running, 200);
  await gate.ledger.first(2);
  assert.equal(await send(gate, CODEX), 200);
});

test("what a budget refuses takes nothing from a brake", LIMIT, async (t) => {
  const budgets = new RecordingBudgets();
  const { gate } = await start(
    t,
    {
      tools: { codex: { brake: { requestsPerMinute: 1, concurrent: 1 }, budgets: [{ usd: 1, per: "day" }] } },
    },
    budgets,
  );
  budgets.refuses = () => true;
  assert.deepEqual(await sendAll(gate, [CODEX, CODEX]), ["budget_spent", "budget_spent"]);
  budgets.refuses = () => false;
  assert.deepEqual(await sendAll(gate, [CODEX, CODEX]), [200, "braked"]);
  assert.deepEqual([budgets.held, budgets.released], [0, 1]);
});

test("a change of the configuration keeps the counts", LIMIT, async (t) => {
  const brake = { requestsPerMinute: 1 };
  const { gate } = await start(t, { tools: { codex: { brake } } });
  assert.equal(await send(gate, CODEX), 200);
  useConfig(gate, rulesForTools({ tools: { codex: { brake, group: "new" } }, groups: { new: {} } }));
  assert.equal(await send(gate, CODEX), "braked");
});

test("a second attempt is no second request, and takes the place of the first", LIMIT, async (t) => {
  const config = rulesForTools({ tools: { codex: { brake: { requestsPerMinute: 2, concurrent: 1 } } } });
  const { gate, upstreams } = await startGateWithUpstreams(
    t,
    {
      main: { script: (_seen, res) => sendJson(res, {}, 529), settings: { fallback: ["spare"] } },
      spare: { script: respondWithMessage, settings: {} },
    },
    { config, clock: new ManualClock() },
  );
  assert.equal(await send(gate, CODEX), 200);
  await gate.ledger.first(2);
  assert.equal(await send(gate, CODEX), 200);
  await gate.ledger.first(4);
  assert.equal(await send(gate, CODEX), "braked");
  assert.deepEqual([upstreams.main.seen.length, upstreams.spare.seen.length], [2, 2]);
});
