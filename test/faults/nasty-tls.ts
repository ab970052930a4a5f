import type { Socket } from "node:net";
import type { TestContext } from "node:test";
import { startHop } from "../check/hop.ts";
import { startTlsUpstream, type Certificate } from "../helpers/upstream/certificate.ts";
import { startTcpUpstream } from "../helpers/upstream/tcp-upstream.ts";

/** What an upstream does to a connection in place of what belongs there. */
interface NastyTls {
  inPlaceOf: "handshake" | "answer";
  act(socket: Socket): void;
}

const speakPlain = (socket: Socket) =>
  void socket.write("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
const reset = (socket: Socket) => void socket.resetAndDestroy();
const goAway = (socket: Socket) => void socket.end();

/** Upstreams whose TLS is at fault. */
export const NASTY_TLS: Record<string, NastyTls> = {
  "resets within the TLS handshake": { inPlaceOf: "handshake", act: reset },
  "goes away within the TLS handshake": { inPlaceOf: "handshake", act: goAway },
  "answers the TLS handshake in plain HTTP": { inPlaceOf: "handshake", act: speakPlain },
  "resets behind the TLS handshake": { inPlaceOf: "answer", act: reset },
  "goes away behind the TLS handshake": { inPlaceOf: "answer", act: goAway },
  "says what is no TLS behind the handshake": { inPlaceOf: "answer", act: speakPlain },
};

/** Starts one that ends with the test; resolves with its base URL. */
export async function startNastyTls(
  t: TestContext,
  certificate: Certificate,
  { inPlaceOf, act }: NastyTls,
): Promise<string> {
  if (inPlaceOf === "handshake") {
    const { port } = await startTcpUpstream(t, (socket) => socket.once("data", () => act(socket)));
    return `https://127.0.0.1:${port}/v1`;
  }
  const { baseUrl, credentials } = await startTlsUpstream(t, certificate);
  const port = await startHop(t, () => Number(new URL(baseUrl).port), {
    down(text, { client }) {
      if (credentials.length === 0) return text;
      act(client);
      return null;
    },
  });
  return `https://127.0.0.1:${port}/v1`;
}
