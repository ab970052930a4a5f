import type { Secret } from "../../core/secrets/secret.ts";
import type { PlainServer } from "../upstream/plain-server.ts";
import type { RequestEvents, UpstreamRequest } from "../upstream/upstream-request.ts";
import type { RefusalSummary } from "../refusal-summary.ts";
import type { ExchangeRecorder } from "./exchange-recorder.ts";
import type { FailureReasons } from "./failure-reasons.ts";
import type { Fallback } from "./fallback.ts";
import type { ModelGuard } from "./model-guard.ts";
import type { SharedBuffer } from "./shared-buffer.ts";

/** How an upstream is reached. */
export interface UpstreamTransport {
  /** Opens a request on one of the upstream's connections. `headers` is a flat list, and complete. */
  open(method: string, path: string, headers: string[], events: RequestEvents): UpstreamRequest;
  /** True when the connection goes through the configured proxy. */
  isProxied: boolean;
  /** The server of a plain http origin; null for https. */
  plain: PlainServer | null;
}

/** What a round trip works with. */
export interface RoundTripOptions {
  exchange: ExchangeRecorder;
  /** The upstream's headers: flat, complete, with the credential. */
  headers: string[];
  /** The key in `headers`, to be redacted from whatever comes back. */
  secret: Secret;
  /** `content-length` of the request; null for a chunked body. */
  announcedBytes: number | null;
  /** Reads the body as it passes, where its model has chosen the upstream; else null. */
  guard: ModelGuard | null;
  /** The upstreams to ask next if this one does nothing; null where there are none. */
  fallback: Fallback | null;
  /** Counts what the round trip refuses itself. */
  refusals: RefusalSummary;
  /** Keeps why it failed. */
  failures: FailureReasons;
  /** Counts what waits for the client and for the upstream. */
  buffer: SharedBuffer;
  /** Called when the upstream rejects the key (401). */
  onKeyRejected(): void;
  /** Asks the system whether the client has closed its end of the connection. */
  hasClientLeft(): Promise<boolean>;
}
