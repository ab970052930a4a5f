import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import type { Choice } from "../../core/decide/choose-upstream.ts";
import type { HeaderIndex } from "../../core/http/header-index.ts";
import { buildDownstreamHeaders } from "../../core/http/build-headers.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import type { Compression } from "../../core/websocket/compression.ts";
import { listHandshakeHeaders, readHandshakeAnswer, readKey } from "../../core/websocket/handshake.ts";
import { isFramed } from "../exchange/unframed-response.ts";
import { composeHeaders } from "../sender.ts";
import type { IncomingResponse } from "../upstream/incoming-response.ts";
import type { PooledUpstream } from "../upstream/pools.ts";
import type { UpstreamRequest } from "../upstream/upstream-request.ts";

/** For connecting and for the response together: Codex waits 15 s seven times before it goes on with POST (docs/websocket.md). */
const LIMIT_MS = 5_000;

/** These are about the request or the key, and the tool gets to see them. */
const PASSED_STATUSES = new Set([400, 401, 429]);

/** At these an upstream has no WebSocket. */
const UNSUPPORTED_STATUSES = new Set([404, 426]);

/** The longest body of a response that is passed. */
const MOST_BODY_BYTES = 64 * 1024;

const NOTHING = Buffer.alloc(0);

/** An open WebSocket to an upstream. Its bytes are the body of the response and of the request. */
export interface UpstreamSocket {
  request: UpstreamRequest;
  incoming: IncomingResponse;
  /** What was agreed on; null if messages are not compressed. */
  compression: Compression | null;
  /** Called when it has broken. */
  onFailed: () => void;
}

/** What an upstream has made of a handshake. */
export type HandshakeAnswer =
  | { kind: "open"; upstream: UpstreamSocket }
  /** A response that the client gets. `headers` is a flat list. */
  | { kind: "pass"; status: number; headers: string[]; body: Buffer }
  /** There is no WebSocket. `isUnsupported`: the upstream says that it has none. */
  | { kind: "none"; reason: string; isUnsupported: boolean }
  /** The client has left. */
  | { kind: "gone" };

/** What a handshake needs. */
interface Handshake {
  upstream: PooledUpstream;
  choice: Choice;
  headers: HeaderIndex;
  secret: Secret;
  /** The client's connection. */
  client: Socket;
  /** The head of the response has arrived. */
  onHead(status: number, headers: HeaderIndex): void;
}

/** Asks an upstream for a WebSocket. Resolves within {@link LIMIT_MS}, and as soon as the client has left. Never rejects. */
export function askForWebSocket({
  upstream,
  choice,
  headers,
  secret,
  client,
  onHead,
}: Handshake): Promise<HandshakeAnswer> {
  const sent = [...listHandshakeHeaders(headers), ...composeHeaders(headers, choice, secret, 0)];
  return new Promise((resolve) => {
    let isSettled = false;
    let open: UpstreamSocket | null = null;
    const request = upstream.openWebSocket(choice.path, sent, {
      onReady: ignore,
      onReconnect: ignore,
      onSent: ignore,
      onResponse: judge,
      onFailed(error) {
        if (open !== null) open.onFailed();
        else settle({ kind: "none", reason: error.message, isUnsupported: false });
      },
    });
    const timer = setTimeout(
      () =>
        settle({ kind: "none", reason: `it did not respond within ${LIMIT_MS} ms`, isUnsupported: false }),
      LIMIT_MS,
    );
    client.once("close", onGone);
    request.write(NOTHING, ignore);

    function onGone(): void {
      settle({ kind: "gone" });
    }

    function settle(answer: HandshakeAnswer): void {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      client.off("close", onGone);
      if (answer.kind !== "open") request.destroy();
      resolve(answer);
    }

    function judge(incoming: IncomingResponse): void {
      const { status } = incoming.head;
      onHead(status, incoming.head.headers);
      // Nothing says whether a response without framing is whole. The tool's POST gets one of its own.
      if (PASSED_STATUSES.has(status) && isFramed(incoming.head)) {
        collect(incoming);
        return;
      }
      const isUnsupported = UNSUPPORTED_STATUSES.has(status);
      const answer =
        status === 101
          ? readHandshakeAnswer(incoming.head, headers, computeAccept(readKey(headers)))
          : { fault: `it responded with ${status}` };
      if ("fault" in answer) {
        settle({ kind: "none", reason: answer.fault, isUnsupported });
        return;
      }
      open = { request, incoming, compression: answer.compression, onFailed: ignore };
      settle({ kind: "open", upstream: open });
    }

    function collect(incoming: IncomingResponse): void {
      const { status, headers: received } = incoming.head;
      const chunks: Buffer[] = [];
      let bytes = 0;
      incoming.onReadable = () => {
        const chunk = incoming.read();
        if (chunk !== null) chunks.push(chunk);
        bytes += chunk?.length ?? 0;
        const isEncoded = (received.all("content-encoding") ?? "identity") !== "identity";
        if (isEncoded || bytes > MOST_BODY_BYTES)
          settle({ kind: "none", reason: `it responded with ${status}`, isUnsupported: false });
        else if (incoming.isComplete) {
          const body = Buffer.concat(chunks);
          // An upstream may echo the key.
          secret.redactBytes(body);
          settle({ kind: "pass", status, headers: buildDownstreamHeaders(received, secret), body });
        }
      };
    }
  });
}

/** Returns the answer to the key of a handshake (RFC 6455 section 1.3). */
export function computeAccept(key: string): string {
  return createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
}

function ignore(): void {}
