import assert from "node:assert/strict";
import type { UsageRecord } from "../../core/ledger/record.ts";
import { upstreamsForTool } from "../../core/policy/tool-access.ts";
import { post } from "../client.ts";
import { isShared } from "./credentials.ts";
import { REPORT_IT, sendThrough, type Guarantee } from "../guarantee.ts";
import { EVENT_STREAM, sendJson, type Responder } from "../recording-upstream.ts";
import { EVENTS, randomWord } from "../samples.ts";

const COUNTED = ["input_uncached", "cache_read", "cache_write", "output", "total"] as const;

const MESSAGE = `{"id":"msg_check","type":"message","role":"assistant","model":"check","content":[],"stop_reason":"end_turn","usage":{"input_tokens":30,"cache_read_input_tokens":7,"cache_creation_input_tokens":5,"output_tokens":11}}`;

const RESPONSE = `{"id":"resp_check","object":"response","status":"completed","model":"check","output":[],"usage":{"input_tokens":40,"input_tokens_details":{"cached_tokens":7},"output_tokens":11,"output_tokens_details":{"reasoning_tokens":4},"total_tokens":51}}`;

const RESPONSE_EVENT = `event: response.completed\ndata: {"type":"response.completed","sequence_number":1,"response":${RESPONSE}}\n\n`;

/** Each request leaves exactly one record, with the right usage. */
export const RECORD_GUARANTEES: readonly Guarantee[] = [
  {
    name: "records",
    proves: "each request leaves exactly one record, with exactly the tokens that the response reports",
    remedy: `the ledger cannot be trusted; ${REPORT_IT}`,
    async verify(proxy) {
      const tool = randomWord();
      const known = knownExchanges(upstreamsForTool(proxy.config, tool)[0]?.inputIncludesCache ?? false);
      const exchanges = known.filter(({ route }) => route !== "/models" || !isShared(proxy.config));
      for (const { route, responder } of exchanges) {
        const path = `/t/${tool}/v1${route}`;
        await sendThrough(proxy, route === "/models" ? { method: "GET", path } : post(path), responder);
      }
      const found = (await proxy.records()).filter((record) => record.tool === tool);
      assert.ok(
        found.length === exchanges.length,
        `${exchanges.length} requests left ${found.length} records`,
      );
      exchanges.forEach((exchange, at) => assertRecord(exchange, found[at]));
    },
  },
];

/** An exchange with known usage. */
interface KnownExchange {
  route: string;
  responder: Responder;
  /** Token counts in the order of {@link COUNTED}; null where the route has no usage. */
  tokens: readonly number[] | null;
}

/** Messages reports cached input in addition to `input_tokens`, Responses within it (docs/wire.md sections 5 and 6). */
function knownExchanges(inputIncludesCache: boolean): KnownExchange[] {
  const messages = inputIncludesCache ? [18, 7, 5, 11, 41] : [30, 7, 5, 11, 53];
  const responses = [33, 7, 0, 11, 51];
  return [
    { route: "/messages", responder: json(MESSAGE), tokens: messages },
    { route: "/messages", responder: stream(EVENTS.join("")), tokens: messages },
    { route: "/responses", responder: json(RESPONSE), tokens: responses },
    { route: "/responses", responder: stream(RESPONSE_EVENT), tokens: responses },
    { route: "/messages/count_tokens", responder: json(`{"input_tokens":42}`), tokens: null },
    { route: "/models", responder: json(`{"data":[]}`), tokens: null },
  ];
}

function json(body: string): Responder {
  return (res) => sendJson(res, Buffer.from(body));
}

function stream(events: string): Responder {
  return (res) => res.writeHead(200, EVENT_STREAM).end(events);
}

function assertRecord({ route, tokens }: KnownExchange, record: UsageRecord | undefined): void {
  assert.ok(record, `${route}: no record`);
  const { usage, outcome, status, tokens: counted } = record;
  assert.ok(record.route === route, `${route}: recorded as ${record.route}`);
  assert.ok(outcome === "completed" && status === 200, `${route}: recorded as ${outcome}, ${status}`);
  assert.ok(usage === (tokens === null ? "none" : "final"), `${route}: usage is ${usage}`);
  const sums = counted && COUNTED.map((name) => counted[name]);
  const [expected, found] = [String(tokens), String(sums)];
  assert.ok(found === expected, `${route}: expected ${expected} tokens, found ${found}`);
}
