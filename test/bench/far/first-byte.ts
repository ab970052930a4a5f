import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { AnswerReader } from "../answer-reader.ts";
import { buildRequest, SMALL_BODY_BYTES } from "../request.ts";

/**
 * What a tool that starts afresh waits for: from connecting to the first byte of its first answer, milliseconds. It has
 * no connection and no TLS session from before. In this process, because the start of a fresh one takes longer than all
 * of that, and differs by more. `trusted`: a certificate to trust, or null for no TLS.
 */
export async function timeFirstByte(port: number, trusted: Buffer | null): Promise<number> {
  const from = performance.now();
  const socket = open(port, trusted);
  const request = buildRequest(port, {
    answer: "json",
    bodyBytes: SMALL_BODY_BYTES,
    headers: [],
    modelPrefix: "",
  });
  socket.write(request);
  try {
    return await new Promise<number>((resolve, reject) => {
      let firstByteAt = 0;
      const reader = new AnswerReader({
        onBody() {},
        onEnd: () => resolve(firstByteAt - from),
        onFault: (answered) => reject(new Error(`answered ${answered}`)),
      });
      socket.on("data", (data: Buffer) => {
        if (firstByteAt === 0) firstByteAt = performance.now();
        reader.feed(data);
      });
      socket.once("error", reject);
      socket.once("close", () => reject(new Error("closed without an answer")));
    });
  } finally {
    socket.destroy();
  }
}

function open(port: number, trusted: Buffer | null): Socket {
  const address = { port, host: "127.0.0.1", noDelay: true };
  return trusted === null ? connect(address) : connectTls({ ...address, ca: trusted });
}
