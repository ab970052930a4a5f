import assert from "node:assert/strict";
import { test } from "node:test";
import { stream } from "../../core/usage/response-bodies.ts";
import { sendRaw } from "../../helpers/client/raw-client.ts";
import { startGateWithHeldUpstream } from "../../helpers/gate/gate-with-upstream.ts";
import { describeCost, costOf, priceBook } from "../../helpers/ledger/prices.ts";

// The service has searched the web, and the client leaves before the usage: the fees of the searches are owed.

const LIMIT = { timeout: 300_000 };

const PRICES = priceBook({ default: { baseUrl: "https://api.openai.com/v1" } });

const ITEM = { type: "web_search_call", status: "completed", action: { type: "search" } };
const EVENTS = [
  { type: "response.created", response: { id: "resp_1", model: "gpt-5", status: "in_progress" } },
  { type: "response.output_item.done", output_index: 0, item: { ...ITEM, id: "ws_1" } },
  { type: "response.output_item.done", output_index: 1, item: { ...ITEM, id: "ws_2" } },
  {
    type: "response.output_item.added",
    output_index: 2,
    item: { ...ITEM, id: "ws_3", status: "in_progress" },
  },
];

test(
  "the record of a client that leaves after two searches has both, no tokens, and a cost of at least their fees",
  LIMIT,
  async (t) => {
    const { held, gate } = await startGateWithHeldUpstream(t, { config: { abort: { graceMs: 0 } } });
    const body = `{"model":"gpt-5","stream":true,"input":"a"}`;
    const head = `Host: 127.0.0.1:${gate.port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
    const client = await sendRaw(t, gate.port, `POST /v1/responses HTTP/1.1\r\n${head}\r\n\r\n${body}`);
    const response = await held;
    response.write(stream(EVENTS));
    await client.until(/ws_3/);
    client.socket.destroy();
    const record = await gate.ledger.only();
    assert.deepEqual(
      [record.outcome, record.cut_by, record.usage, record.tokens, record.server_tools],
      ["cut", "client", "absent", null, { web_search: 2 }],
    );
    assert.equal(describeCost(costOf({ ...record, ts: "2026-11-20T12:00:00.000Z" }, PRICES)), "≥ 0.02");
  },
);
