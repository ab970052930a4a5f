import assert from "node:assert/strict";
import type { Config, Upstream } from "../core/config/config.ts";
import { keyNameOfTool } from "../core/policy/tool-access.ts";
import { resolveKeyRef } from "../core/policy/configured-keys.ts";
import type { UsageRecord } from "../core/ledger/record.ts";
import { summarize, type Client, type TestRequest, type TestResponse } from "./client.ts";
import type { KnownKeys } from "./signature.ts";
import type { RecordedRequest, RecordingUpstream, Responder } from "./recording-upstream.ts";

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
  /** The made-up access keys that sign requests to Amazon Bedrock. */
  accessKeys: KnownKeys;
  /** A registered local token. */
  token: string;
  /** Returns every record of the ledger, oldest first. */
  records(): Promise<UsageRecord[]>;
}

/** Something that tollkeeper guarantees, verified from outside on a running instance. */
export interface Guarantee<Proxy extends RunningProxy = IsolatedProxy> {
  name: string;
  /** What a successful verification shows. */
  proves: string;
  /** What a violation means, and what to do about it; one line. */
  remedy: string;
  /** Resolves when the guarantee holds. Throws otherwise, with what was observed as the message: lower case, no full stop. */
  verify(proxy: Proxy): Promise<void>;
}

/**
 * Sends one request through tollkeeper.
 * @returns the request as the upstream received it, and the response
 * @throws unless it reached the upstream exactly once
 */
export async function sendThrough(
  { client, upstream }: IsolatedProxy,
  request: TestRequest,
  responder?: Responder,
): Promise<{ received: RecordedRequest; response: TestResponse }> {
  const before = upstream.requests.length;
  if (responder !== undefined) upstream.respondOnce(responder);
  const response = await client.send(request);
  const [received, second] = upstream.requests.slice(before);
  assert.ok(received, `the request did not reach the upstream: ${summarize(response)}`);
  assert.ok(second === undefined, `the upstream got a second request: ${second?.method} ${second?.path}`);
  return { received, response };
}

/** Returns the upstream that responds to tools without settings of their own. */
export function firstUpstream({ upstreams }: Config): Upstream {
  return Object.values(upstreams)[0] ?? assert.fail("the configuration has no upstream");
}

/** Returns the name of the key that it gets from them. */
export function firstKey(config: Config): string {
  return resolveKeyRef(firstUpstream(config), keyNameOfTool(config, "")).name;
}

/** Throws an error that says where the bytes begin to differ. */
export function assertSameBytes(what: string, sent: Buffer, received: Buffer): void {
  if (sent.equals(received)) return;
  const end = Math.min(sent.length, received.length);
  let at = 0;
  while (at < end && sent[at] === received[at]) at += 1;
  assert.fail(`${what}: differs from byte ${at} (${sent.length} bytes sent, ${received.length} received)`);
}

/** Remedy if a tool would be misled, but nothing leaks. */
export const REPORT_IT = "report it with the output of: tollkeeper check --json";

/** Remedy if the key or the machine's owner is at risk. */
export const STOP_AND_REPORT = `stop the daemon until this is fixed, and ${REPORT_IT}`;
