import type { ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import type { CutBy } from "../../../src/core/ledger/record.ts";
import type { Outcome, UsageState } from "../../../src/core/usage/reading.ts";
import { startGate, type GateOptions, type TestGate } from "../../helpers/gate/gate.ts";
import { rawClient, rawRequest, type RawClient } from "../../helpers/client/raw-client.ts";
import { MESSAGE_EVENTS, startHeldUpstream, type ScriptedUpstream } from "../../helpers/upstream/scripted-upstream.ts";

/** One way for an exchange to end. */
export interface Ending {
  what: string;
  record: Expected;
  /** Plays an exchange up to what ends it; the record may come a little later. */
  play(t: TestContext): Promise<TestGate>;
}

/** Outcome, who cut it, how sure its usage is, and the input tokens known of it. */
export type Expected = readonly [Outcome, CutBy | null, UsageState, number | null];

export const COMPLETED: Expected = ["completed", null, "final", 3];
export const REJECTED: Expected = ["rejected", null, "absent", null];
export const ERROR: Expected = ["error", null, "absent", null];

/** Cut before the service said anything of its usage. */
export const cutEarly = (by: CutBy): Expected => ["cut", by, "absent", null];

/** Cut in mid-stream: the input tokens of `message_start` are kept. */
export const cutLate = (by: CutBy): Expected => ["cut", by, "partial", 3];

export const [START, ...REST] = MESSAGE_EVENTS;

/** An exchange in mid-answer: the head and what `begin` wrote have reached the client, the rest is the test's. */
export interface OpenStream {
  gate: TestGate;
  client: RawClient;
  answer: ServerResponse;
  upstream: ScriptedUpstream;
  /** Sends the rest, and the end. */
  finish(): void;
}

/** Opens a stream through a gate; its first event is there unless `begin` is empty. */
export async function openStream(
  t: TestContext,
  options: GateOptions = {},
  begin: string = START,
): Promise<OpenStream> {
  const { upstream, held } = await startHeldUpstream(t);
  const gate = await startGate(t, upstream.baseUrl, options);
  const client = await rawClient(t, gate.port);
  client.write(rawRequest(gate.port));
  const answer = await held;
  if (begin === "") answer.flushHeaders();
  else answer.write(begin);
  await client.until(begin === "" ? /\r\n\r\n/ : /message_start/);
  const finish = () => {
    for (const event of REST) answer.write(event);
    answer.end();
  };
  return { gate, client, answer, upstream, finish };
}
