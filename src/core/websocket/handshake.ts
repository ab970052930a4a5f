import { readAccepted, readOffer, type Compression } from "./compression.ts";
import type { HeaderIndex } from "../http/header-index.ts";
import type { ResponseHead } from "../http/response-head.ts";
import { badHandshake } from "../refusals/routes.ts";
import type { Refusal } from "../refusals/refusal.ts";

/** 16 bytes in base64 (RFC 6455 section 4.1). */
const KEY = /^[A-Za-z0-9+/]{22}==$/;

/** Each may occur once. */
const SINGLE = ["sec-websocket-key", "sec-websocket-version"];

/**
 * Returns the refusal of an opening handshake that is not valid (RFC 6455 section 4.2.1), or that offers a subprotocol: that may hold a
 * credential, and a client fails a connection on which its offer is left out. null for any other.
 */
export function refuseHandshake(headers: HeaderIndex): Refusal | null {
  if (headers.has("sec-websocket-protocol"))
    return badHandshake("a WebSocket with a subprotocol is not supported");
  if (SINGLE.some((name) => headers.repeated.includes(name)))
    return badHandshake("more than one WebSocket key");
  const isUpgrade = /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i.test(headers.all("connection") ?? "");
  const isValid = isUpgrade && headers.get("sec-websocket-version") === "13" && KEY.test(readKey(headers));
  if (!isValid) return badHandshake("the handshake of the WebSocket is not valid");
  // Messages are read as they are.
  return headers.has("content-encoding") ? badHandshake("a handshake has no body to encode") : null;
}

/** Lists the headers that ask an upstream for a WebSocket. Of what the client offers only compression is offered, which can be read. */
export function listHandshakeHeaders(headers: HeaderIndex): string[] {
  const sent = ["sec-websocket-version", "13", "sec-websocket-key", readKey(headers)];
  const offer = readOffer(headers);
  return offer === null ? sent : [...sent, "sec-websocket-extensions", offer];
}

/**
 * Reads an upstream's 101: the compression that it has accepted, or what is wrong. `asked` are the headers of the client, and `accept` is the
 * answer to its key. The upstream may accept only what was offered (RFC 6455 section 4.1).
 */
export function readHandshakeAnswer(
  { headers }: ResponseHead,
  asked: HeaderIndex,
  accept: string,
): { fault: string } | { compression: Compression | null } {
  if (headers.get("upgrade")?.toLowerCase() !== "websocket")
    return { fault: "it switched to another protocol" };
  if (headers.get("sec-websocket-accept") !== accept)
    return { fault: "its handshake does not belong to ours" };
  if (headers.has("sec-websocket-protocol")) return { fault: "it uses a subprotocol that was not offered" };
  const accepted = headers.all("sec-websocket-extensions");
  if (accepted === undefined) return { compression: null };
  const compression = readOffer(asked) === null ? null : readAccepted(accepted);
  return compression === null ? { fault: "it uses an extension that was not offered" } : { compression };
}

/** Returns the client's key; "" without one. */
export function readKey(headers: HeaderIndex): string {
  return headers.get("sec-websocket-key") ?? "";
}
