import type { Socket } from "node:net";
import type { TestContext } from "node:test";
import { startRelay } from "../check/tampering-relay.ts";
import { startTlsUpstream, type Certificate } from "../helpers/upstream/certificate.ts";
import { startTcpUpstream } from "../helpers/upstream/tcp-upstream.ts";

/** What an upstream does to a connection instead of the TLS handshake or of its response. */
interface BrokenTls {
  inPlaceOf: "handshake" | "response";
  act(socket: Socket): void;
}

const speakPlain = (socket: Socket) =>
  void socket.write("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
const reset = (socket: Socket) => void socket.resetAndDestroy();
const end = (socket: Socket) => void socket.end();

/** Upstreams with broken TLS, by what they do. */
export const BROKEN_TLS: Record<string, BrokenTls> = {
  "resets within the TLS handshake": { inPlaceOf: "handshake", act: reset },
  "closes within the TLS handshake": { inPlaceOf: "handshake", act: end },
  "answers the TLS handshake in plain HTTP": { inPlaceOf: "handshake", act: speakPlain },
  "resets after the TLS handshake": { inPlaceOf: "response", act: reset },
  "closes after the TLS handshake": { inPlaceOf: "response", act: end },
  "sends plain HTTP after the TLS handshake": { inPlaceOf: "response", act: speakPlain },
};

/** Starts an upstream with broken TLS that ends with the test. Returns its base URL. */
export async function startBrokenTls(
  t: TestContext,
  certificate: Certificate,
  { inPlaceOf, act }: BrokenTls,
): Promise<string> {
  if (inPlaceOf === "handshake") {
    const { port } = await startTcpUpstream(t, (socket) => socket.once("data", () => act(socket)));
    return `https://127.0.0.1:${port}/v1`;
  }
  const { baseUrl, credentials } = await startTlsUpstream(t, certificate);
  const port = await startRelay(t, () => Number(new URL(baseUrl).port), {
    down(text, { client }) {
      if (credentials.length === 0) return text;
      act(client);
      return null;
    },
  });
  return `https://127.0.0.1:${port}/v1`;
}
