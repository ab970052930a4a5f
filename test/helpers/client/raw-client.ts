import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";

/** A client that writes bytes as given and keeps everything it receives. */
export interface RawClient {
  socket: Socket;
  write(text: string): void;
  /** Resolves with everything received so far once it matches. Rejects when the connection closes first. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves with everything received once the connection is closed, even by an error. */
  closed: Promise<string>;
}

/** Connects to a loopback port; the connection ends with the test. */
export async function rawClient(t: TestContext, port: number): Promise<RawClient> {
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  let received = "";
  const waiting = new Set<() => void>();
  const wake = () => waiting.forEach((check) => check());
  socket.setEncoding("latin1");
  socket.on("data", (text: string) => {
    received += text;
    wake();
  });
  socket.on("error", () => {});
  const closed = new Promise<string>((resolve) => socket.once("close", () => resolve(received)));
  return {
    socket,
    closed,
    write: (text) => void socket.write(text, "latin1"),
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (!pattern.test(received)) return;
          waiting.delete(check);
          resolve(received);
        };
        waiting.add(check);
        void closed.then(() => reject(new Error(`closed before ${String(pattern)}: ${received}`)));
        check();
      }),
  };
}

/** Connects to a loopback port and sends one request, by default a Messages request. */
export async function sendRaw(t: TestContext, port: number, request = rawRequest(port)): Promise<RawClient> {
  const client = await rawClient(t, port);
  client.write(request);
  return client;
}

/** Returns the bytes of a Messages request. */
export function rawRequest(port: number, body = `{"model":"m","stream":true}`): string {
  return beginRequest(port, `Content-Length: ${body.length}`) + body;
}

/** Returns the head of a Messages request, with `framing` as the header line that announces its body. */
export function beginRequest(port: number, framing: string): string {
  return `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`;
}
