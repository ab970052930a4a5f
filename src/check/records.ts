import { upstreamOf } from "../core/config/config.ts";
import type { UsageRecord } from "../core/ledger/record.ts";
import { type Check, expect, Fault, REPORT } from "./check.ts";
import { answerJson, EVENT_STREAM, type Script } from "./echo.ts";
import { exchange, post } from "./send.ts";
import { EVENTS, randomWord } from "./samples.ts";

/** A request, its answer, and what the ledger must say of it. */
interface Known {
  route: string;
  script: Script;
  /** Uncached input, cache read, cache write, output, total; null: the route has no usage. */
  tokens: readonly number[] | null;
}

/** Messages counts cached input beside `input_tokens`, Responses within it (facts/usage.md sections 1.1 and 1.2). */
function knownAnswers(inputIncludesCache: boolean): Known[] {
  const messages = inputIncludesCache ? [18, 7, 5, 11, 41] : [30, 7, 5, 11, 53];
  const responses = [33, 7, 0, 11, 51];
  return [
    { route: "/messages", script: json(MESSAGE), tokens: messages },
    { route: "/messages", script: stream(EVENTS.join("")), tokens: messages },
    { route: "/responses", script: json(RESPONSE), tokens: responses },
    { route: "/responses", script: stream(RESPONSE_EVENT), tokens: responses },
    { route: "/messages/count_tokens", script: json(`{"input_tokens":42}`), tokens: null },
    { route: "/models", script: json(`{"data":[]}`), tokens: null },
  ];
}

function json(body: string): Script {
  return (res) => answerJson(res, Buffer.from(body));
}

function stream(events: string): Script {
  return (res) => res.writeHead(200, EVENT_STREAM).end(events);
}

const MESSAGE = `{"id":"msg_check","type":"message","role":"assistant","model":"check","content":[],"stop_reason":"end_turn","usage":{"input_tokens":30,"cache_read_input_tokens":7,"cache_creation_input_tokens":5,"output_tokens":11}}`;

const RESPONSE = `{"id":"resp_check","object":"response","status":"completed","model":"check","output":[],"usage":{"input_tokens":40,"input_tokens_details":{"cached_tokens":7},"output_tokens":11,"output_tokens_details":{"reasoning_tokens":4},"total_tokens":51}}`;

const RESPONSE_EVENT = `event: response.completed\ndata: {"type":"response.completed","sequence_number":1,"response":${RESPONSE}}\n\n`;

const records: Check = {
  name: "records",
  proves: "each request leaves one record, with the tokens that the answer names, exactly",
  remedy: `the ledger cannot be trusted; ${REPORT}`,
  async run(on) {
    const tool = randomWord();
    const answers = knownAnswers(upstreamOf(on.config, tool)?.inputIncludesCache ?? false);
    for (const { route, script } of answers) {
      const path = `/t/${tool}/v1${route}`;
      await exchange(on, route === "/models" ? { method: "GET", path } : post(path), script);
    }
    const found = (await on.records()).filter((record) => record.tool === tool);
    expect(found.length === answers.length, `${answers.length} requests left ${found.length} records`);
    answers.forEach((answer, at) => compare(answer, found[at]));
  },
};

/** @throws Fault which names what the record should say */
function compare({ route, tokens }: Known, record: UsageRecord | undefined): void {
  if (record === undefined) throw new Fault(`${route}: no record`);
  const { usage, outcome } = record;
  expect(record.route === route, `${route}: recorded as ${record.route}`);
  expect(
    outcome === "completed" && record.status === 200,
    `${route}: recorded as ${outcome}, ${record.status}`,
  );
  expect(usage === (tokens === null ? "none" : "final"), `${route}: usage is ${usage}`);
  const counted = record.tokens;
  const figures = counted && [
    counted.input_uncached,
    counted.cache_read,
    counted.cache_write,
    counted.output,
    counted.total,
  ];
  expect(
    String(figures) === String(tokens),
    `${route}: tokens should be ${String(tokens)}, are ${String(figures)}`,
  );
}

/** Every request is booked, once and right. */
export const RECORD_CHECKS: readonly Check[] = [records];
