import type { HeaderIndex } from "../http/header-index.ts";

/** The only extension that passes (RFC 7692). */
const DEFLATE = "permessage-deflate";

/** What a peer may refer to in a message: the last bytes of the messages before it. True for each peer that does not give that up. */
export interface Compression {
  clientTakesOver: boolean;
  serverTakesOver: boolean;
}

/** Parameters without a value. */
const FLAGS: ReadonlySet<string> = new Set(["server_no_context_takeover", "client_no_context_takeover"]);

const SERVER_WINDOW = "server_max_window_bits";

/** Says that the client could use a smaller window. Left out of what is offered: so there is only one way to read its messages. */
const CLIENT_WINDOW = "client_max_window_bits";

/** A window of 2^8 to 2^15 bytes (RFC 7692 section 7.1.2). */
const WINDOW_BITS = /^(?:[89]|1[0-5])$/;

/** Parameters of an extension, by name; null for one without a value. */
type Parameters = ReadonlyMap<string, string | null>;

/** Returns the compression to offer to an upstream: what the client offers first. null for a client that offers none that is known. */
export function readOffer(headers: HeaderIndex): string | null {
  for (const offer of (headers.all("sec-websocket-extensions") ?? "").split(",")) {
    const parameters = readDeflate(offer);
    if (parameters === null) continue;
    const kept = [...parameters].filter(([name]) => name !== CLIENT_WINDOW);
    if (!kept.every(([name, value]) => isKnown(name, value))) continue;
    return [DEFLATE, ...kept.map(([name, value]) => (value === null ? name : `${name}=${value}`))].join("; ");
  }
  return null;
}

/** Reads what an upstream has accepted; null for what no offer of ours allows (RFC 7692 section 7.1). */
export function readAccepted(accepted: string): Compression | null {
  const parameters = readDeflate(accepted);
  if (parameters === null) return null;
  for (const [name, value] of parameters) if (!isKnown(name, value)) return null;
  return {
    clientTakesOver: !parameters.has("client_no_context_takeover"),
    serverTakesOver: !parameters.has("server_no_context_takeover"),
  };
}

function isKnown(name: string, value: string | null): boolean {
  if (FLAGS.has(name)) return value === null;
  return name === SERVER_WINDOW && value !== null && WINDOW_BITS.test(value);
}

/** Returns the parameters of `permessage-deflate`; null for another extension, for several, and if a parameter comes twice. */
function readDeflate(extension: string): Parameters | null {
  const [name, ...rest] = extension.split(";").map((part) => part.trim());
  if (name !== DEFLATE) return null;
  const parameters = new Map<string, string | null>();
  for (const part of rest) {
    const match = /^([a-z_]+)(?:=([0-9]+))?$/.exec(part);
    if (match?.[1] === undefined || parameters.has(match[1])) return null;
    parameters.set(match[1], match[2] ?? null);
  }
  return parameters;
}
