import { Agent, request, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Signal } from "../../adapters/otlp/encode.ts";
import type { OtlpConfig } from "../../core/config/config.ts";
import type { Outbound } from "../../core/config/outbound.ts";
import { codeOf, KeyFailure } from "../../core/failure.ts";
import { listPlainHeaders, listSecretHeaders } from "../../core/export/header-secrets.ts";
import { judgeResponse, type Verdict } from "../../core/export/judge-response.ts";
import { buildSecretHeader } from "../../core/http/credential-headers.ts";
import { readStart } from "../../core/http/read-start.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import type { KeyStore } from "../../ports.ts";
import { createDialer } from "../../proxy/upstream/dial.ts";
import { explainConnectFailure } from "../../core/refusals/upstreams.ts";

/** A response that is not complete by then counts as no response. */
const LIMIT_MS = 30_000;
/** Far more than a response to an export needs. The rest is not read. */
const MAX_BODY_BYTES = 64 * 1024;
/** Shorter bodies gain nothing from compression. */
const COMPRESSED_FROM_BYTES = 1_024;

const compress = promisify(gzip);

/** What a receiver made of data, with the body of its response. */
interface Reply {
  verdict: Verdict;
  body: Buffer;
}

/** A collector, to which OTLP is sent by HTTP, one request at a time. */
export class Receiver {
  readonly #config: OtlpConfig;
  readonly #keys: KeyStore;
  readonly #agent: Agent;
  readonly #limitMs: number;
  /** As they were read. Keychains are slow, so they are read again only when the receiver does not accept these. */
  #secrets: [name: string, value: Secret, scheme: string | null][] | null = null;

  /** @param limitMs of one request with its response */
  constructor(config: OtlpConfig, outbound: Outbound, keys: KeyStore, limitMs = LIMIT_MS) {
    this.#limitMs = limitMs;
    this.#config = config;
    this.#keys = keys;
    const dial = createDialer(outbound)(config.endpoint.origin);
    this.#agent = new Agent({ keepAlive: true, maxSockets: 1 });
    // The socket does TLS itself, so this is plain HTTP to Node.
    this.#agent.createConnection = () => dial.open();
  }

  /** Sends data once. Settles within its limit; rejects only with the reason of `isOver`. */
  async send(signal: Signal, data: Uint8Array, isOver: AbortSignal): Promise<Reply> {
    const isLate = AbortSignal.timeout(this.#limitMs);
    try {
      const headers = await this.#headers();
      const isCompressed = data.length >= COMPRESSED_FROM_BYTES;
      if (isCompressed) headers["content-encoding"] = "gzip";
      const body = isCompressed ? await compress(data) : Buffer.from(data);
      return await this.#request(signal, headers, body, AbortSignal.any([isOver, isLate]));
    } catch (error) {
      isOver.throwIfAborted();
      return {
        verdict: later(isLate.aborted ? silence(this.#limitMs) : explain(error)),
        body: Buffer.alloc(0),
      };
    }
  }

  /** Closes its connection. */
  close(): void {
    this.#agent.destroy();
  }

  async #request(
    signal: Signal,
    headers: OutgoingHttpHeaders,
    body: Buffer,
    isOver: AbortSignal,
  ): Promise<Reply> {
    const { origin, basePath } = this.#config.endpoint;
    const { host } = new URL(origin);
    const options = {
      agent: this.#agent,
      method: "POST",
      path: `${basePath}/v1/${signal}`,
      headers: { host, ...headers, "content-length": body.length },
      setHost: false,
      insecureHTTPParser: false,
      signal: isOver,
    };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request(options, resolve).once("error", reject).end(body);
    });
    const { statusCode: status = 0, headers: received } = response;
    if (status === 401 || status === 403) this.#secrets = null;
    const content = await readStart(response, MAX_BODY_BYTES);
    const [contentType, retryAfter] = [received["content-type"] ?? "", received["retry-after"]];
    return { verdict: judgeResponse({ status, contentType, retryAfter }, Date.now()), body: content };
  }

  async #headers(): Promise<OutgoingHttpHeaders> {
    const headers: OutgoingHttpHeaders = {
      "content-type": "application/x-protobuf",
      accept: "application/x-protobuf",
      "accept-encoding": "identity",
      "user-agent": "tollkeeper",
      ...Object.fromEntries(listPlainHeaders(this.#config)),
    };
    this.#secrets ??= await this.#readSecrets();
    for (const [name, secret, scheme] of this.#secrets) {
      const [header, value] = buildSecretHeader(name, scheme, secret);
      headers[header] = value;
    }
    return headers;
  }

  async #readSecrets(): Promise<[name: string, value: Secret, scheme: string | null][]> {
    const secrets: [name: string, value: Secret, scheme: string | null][] = [];
    // One after another, because keychains serve one caller at a time.
    for (const { name, scheme, ref } of listSecretHeaders(this.#config))
      secrets.push([name, await this.#keys.read(ref), scheme]);
    return secrets;
  }
}

function later({ reason, hint }: { reason: string; hint: string | null }): Verdict {
  return { kind: "later", reason, hint, afterMs: null };
}

function silence(limitMs: number): { reason: string; hint: string | null } {
  return { reason: `it did not respond within ${limitMs / 1000} seconds`, hint: null };
}

function explain(error: unknown): { reason: string; hint: string | null } {
  if (error instanceof KeyFailure) return { reason: error.messageForOwner, hint: error.hint ?? null };
  if (!(error instanceof Error)) return { reason: String(error), hint: null };
  const code = codeOf(error);
  if (code === "ECONNRESET" || code === "EPIPE")
    return { reason: "the connection ended before its response was complete", hint: null };
  if (code?.startsWith("HPE_") === true) return { reason: "its response is not valid HTTP", hint: null };
  const {
    why,
    fix,
    command = "tollkeeper config edit",
  } = explainConnectFailure(error, null, process.platform);
  return { reason: why, hint: fix === null ? null : `${fix} with: ${command}` };
}
