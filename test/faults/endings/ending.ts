import type { ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import type { CutBy } from "../../../src/core/ledger/record.ts";
import type { Outcome, UsageState } from "../../../src/core/usage/reading.ts";
import { type GateOptions, type TestGate } from "../../helpers/gate/gate.ts";
import { type RawClient, sendRaw } from "../../helpers/client/raw-client.ts";
import { MESSAGE_EVENTS, type ScriptedUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { startGateWithHeldUpstream } from "../../helpers/gate/gate-with-upstream.ts";

/** One way for an exchange to end. */
export interface Ending {
  /** A clause: the event that ends the exchange. */
  what: string;
  record: Expected;
  /** Runs an exchange up to the event that ends it. The record may be written a little later. */
  run(t: TestContext): Promise<TestGate>;
}

/** Outcome, who cut it, state of the usage, and the known input tokens. */
export type Expected = readonly [Outcome, CutBy | null, UsageState, number | null];

export const COMPLETED: Expected = ["completed", null, "final", 3];
export const REJECTED: Expected = ["rejected", null, "absent", null];
export const ERROR: Expected = ["error", null, "absent", null];

/** Cut before the upstream sent any usage. */
export const cutEarly = (by: CutBy): Expected => ["cut", by, "absent", null];

/** Cut in mid-stream: the input tokens of `message_start` are recorded. */
export const cutLate = (by: CutBy): Expected => ["cut", by, "partial", 3];

const [first, ...REST] = MESSAGE_EVENTS;
export const START = first;

/** An exchange whose response has begun: the head and `begin` have reached the client, and the test sends the rest. */
export interface OpenStream {
  gate: TestGate;
  client: RawClient;
  response: ServerResponse;
  upstream: ScriptedUpstream;
  /** Sends the rest and ends the response. */
  finish(): void;
}

/** Opens a stream through a gate. The client has its first event, unless `begin` is empty. */
export async function openStream(
  t: TestContext,
  options: GateOptions = {},
  begin: string = START,
): Promise<OpenStream> {
  const { upstream, held, gate } = await startGateWithHeldUpstream(t, options);
  const client = await sendRaw(t, gate.port);
  const response = await held;
  if (begin === "") response.flushHeaders();
  else response.write(begin);
  await client.until(begin === "" ? /\r\n\r\n/ : /message_start/);
  const finish = () => {
    for (const event of REST) response.write(event);
    response.end();
  };
  return { gate, client, response, upstream, finish };
}
