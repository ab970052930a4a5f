import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { MessageReader } from "../../helpers/client/http-messages.ts";
import { buildRequest, SMALL_BODY_BYTES } from "../request.ts";

/**
 * Measures the time of a newly started tool from connecting to the first byte of its first response, in milliseconds, without an
 * earlier connection or TLS session. Runs in this process, because starting another one takes longer and varies more. `trusted` is
 * the certificate to trust, or null for no TLS.
 */
export async function timeFirstByte(port: number, trusted: Buffer | null): Promise<number> {
  const from = performance.now();
  const socket = open(port, trusted);
  const request = buildRequest(port, {
    response: "json",
    bodyBytes: SMALL_BODY_BYTES,
    headers: [],
    modelPrefix: "",
  });
  socket.write(request);
  try {
    return await new Promise<number>((resolve, reject) => {
      let firstByteAt = 0;
      const reader = new MessageReader({
        onHead({ start }) {
          if (!start.startsWith("HTTP/1.1 200 ")) reject(new Error(`answered ${start}`));
        },
        onBody() {},
        onEnd: () => resolve(firstByteAt - from),
      });
      socket.on("data", (data: Buffer) => {
        if (firstByteAt === 0) firstByteAt = performance.now();
        reader.feed(data);
        if (reader.fault !== null) reject(new Error(`answered what is not HTTP: ${reader.fault}`));
      });
      socket.once("error", reject);
      socket.once("close", () => reject(new Error("closed without a response")));
    });
  } finally {
    socket.destroy();
  }
}

function open(port: number, trusted: Buffer | null): Socket {
  const address = { port, host: "127.0.0.1", noDelay: true };
  return trusted === null ? connect(address) : connectTls({ ...address, ca: trusted });
}
