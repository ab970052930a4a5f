import { randomUUID } from "node:crypto";
import { RECORD_VERSION, type CutBy } from "../../core/ledger/record.ts";
import type { Route } from "../../core/http/routes.ts";
import { nothingLearned } from "../../core/usage/dialect.ts";
import type { Reading } from "../../core/usage/reading.ts";
import { createRequestScan, type RequestScan } from "../../core/usage/request-scan.ts";
import type { Clock, Ledger } from "../../ports.ts";
import type { RequestIdentity } from "../request-identity.ts";

/** What is known of a request once it has a route. */
export interface ExchangeHead {
  caller: RequestIdentity;
  userAgent: string | null;
  route: Route;
  /** `content-encoding` of the request; a compressed body is passed on unread. */
  contentEncoding: string | null;
}

/** One request and its answer, from the gate to the ledger. Leaves exactly one record, however it ends. */
export class Exchange {
  readonly route: Route;
  status: number | null = null;
  upstreamRequestId: string | null = null;
  bytesIn = 0;
  bytesOut = 0;
  /** Did the answer come as an event stream? null before there is one. */
  streamed: boolean | null = null;
  readonly #head: ExchangeHead;
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #arrivedAt: number;
  readonly #arrivedTick: number;
  readonly #scan: RequestScan | null;
  #ttftMs: number | null = null;
  #recorded = false;

  constructor(head: ExchangeHead, ledger: Ledger, clock: Clock) {
    this.route = head.route;
    this.#head = head;
    this.#ledger = ledger;
    this.#clock = clock;
    this.#arrivedAt = clock.now();
    this.#arrivedTick = clock.monotonic();
    const readable = head.contentEncoding === null || head.contentEncoding === "identity";
    this.#scan = readable && head.route.method === "POST" ? createRequestScan() : null;
  }

  /** Looks at a piece of the request's body on its way to the upstream. */
  sawRequestBytes(chunk: Buffer): void {
    this.bytesIn += chunk.length;
    this.#scan?.feed(chunk);
  }

  /** Marks the first content of the answer; later calls change nothing. */
  sawFirstContent(): void {
    this.#ttftMs ??= this.#elapsedMs();
  }

  get hasFirstContent(): boolean {
    return this.#ttftMs !== null;
  }

  /** Writes the record; later calls change nothing. */
  record(reading: Reading, cutBy: CutBy | null): void {
    if (this.#recorded) return;
    this.#recorded = true;
    const { caller, userAgent, route } = this.#head;
    const { identity, peer, key, upstream } = caller;
    this.#ledger.append({
      v: RECORD_VERSION,
      id: randomUUID(),
      ts: new Date(this.#arrivedAt).toISOString(),
      tool: identity.tool,
      tool_by: identity.by,
      session: identity.session,
      user_agent: userAgent,
      process: peer.process?.record ?? null,
      project: peer.project,
      key: key.name,
      upstream: upstream.upstream.name,
      route: route.path,
      method: route.method,
      status: this.status,
      model_requested: this.#scan?.model ?? null,
      stream: this.streamed === true || (this.#scan?.stream ?? this.streamed),
      // One by one, not spread: V8 then makes the record in one step, 0.03 µs in place of 0.3.
      outcome: reading.outcome,
      stop: reading.stop,
      error_type: reading.error_type,
      usage: reading.usage,
      spend: reading.spend,
      response_id: reading.response_id,
      model: reading.model,
      service_tier: reading.service_tier,
      speed: reading.speed,
      inference_geo: reading.inference_geo,
      tokens: reading.tokens,
      extra: reading.extra,
      server_tools: reading.server_tools,
      raw_usage: reading.raw_usage,
      flags: reading.flags,
      upstream_request_id: this.upstreamRequestId,
      cut_by: reading.outcome === "cut" ? cutBy : null,
      ttft_ms: this.#ttftMs,
      duration_ms: this.#elapsedMs(),
      bytes_in: this.bytesIn,
      bytes_out: this.bytesOut,
    });
  }

  /** The record of an exchange that had no answer of the upstream's: `rejected` by us, or `cut` before its head. */
  recordUnanswered(outcome: "rejected" | "cut", errorType: string | null, cutBy: CutBy | null): void {
    const usage = this.route.spend === "never" ? "none" : "absent";
    this.record({ ...nothingLearned(outcome, usage), error_type: errorType }, cutBy);
  }

  #elapsedMs(): number {
    return Math.round((this.#clock.monotonic() - this.#arrivedTick) * 10) / 10;
  }
}
