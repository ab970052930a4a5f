import assert from "node:assert/strict";
import type { Config } from "../core/config/config.ts";
import type { UsageRecord } from "../core/ledger/record.ts";
import type { Client } from "./client.ts";
import type { RecordingUpstream } from "./recording-upstream.ts";

/** A running tollkeeper that requests can be sent to. */
export interface RunningProxy {
  client: Client;
}

/** A running tollkeeper whose only upstream is ours, so that a check sees both ends of every request. */
export interface IsolatedProxy extends RunningProxy {
  upstream: RecordingUpstream;
  /** The configuration under check. Each upstream's base URL has a path of its own on the recording upstream. */
  config: Config;
  /** Returns the made-up value of the key with this name. */
  keyNamed(name: string): string;
  /** Returns every record of the ledger, oldest first. */
  records(): Promise<UsageRecord[]>;
}

/** One guarantee of tollkeeper's, verified from outside on a running one. */
export interface Guarantee<Proxy extends RunningProxy = IsolatedProxy> {
  name: string;
  /** What is known when it holds. */
  proves: string;
  /** What a violation means, and what to do about it; one line. */
  remedy: string;
  /** Resolves when the guarantee holds. Throws otherwise, with what was seen as the message: lower case, no full stop. */
  verify(proxy: Proxy): Promise<void>;
}

/** Throws an error that says where the bytes begin to differ. */
export function assertSameBytes(what: string, sent: Buffer, received: Buffer): void {
  if (sent.equals(received)) return;
  const end = Math.min(sent.length, received.length);
  let at = 0;
  while (at < end && sent[at] === received[at]) at += 1;
  assert.fail(`${what}: differs from byte ${at} on (${sent.length} bytes sent, ${received.length} received)`);
}

/** Remedy where a tool would be misled, but nothing leaks. */
export const REPORT_IT = "report it with the output of: tollkeeper check --json";

/** Remedy where the key or the machine's owner is at risk. */
export const STOP_AND_REPORT = `stop the daemon until it is mended, and ${REPORT_IT}`;
