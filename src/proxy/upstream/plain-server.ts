import { connect } from "node:tls";
import { addressOf, serverNameOf } from "./dial.ts";

/** A server on this machine responds to a handshake in a few milliseconds. */
const LIMIT_MS = 500;

/**
 * A server that is asked in plain HTTP. One that expects TLS closes the connection, sends an alert, or responds with 400 (Node and
 * Python, OpenSSL, nginx and Go). A server that works may do so too, so it is asked: with a handshake, and with no request.
 */
export class PlainServer {
  readonly #origin: string;
  /** True once it is known that it speaks plain HTTP. */
  isProven = false;

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** True for a response that a server that expects TLS could send. Proves the server otherwise. */
  isDoubtful(status: number, contentType: string | undefined): boolean {
    if (status === 400 && !/json/i.test(contentType ?? "")) return !this.isProven;
    this.isProven = true;
    return false;
  }

  /** Resolves to whether it speaks TLS. Asks once, unless there was no connection. */
  async speaksTls(): Promise<boolean> {
    if (this.isProven) return false;
    const answer = await shakeHands(this.#origin);
    if (answer === "other") this.isProven = true;
    return answer === "tls";
  }
}

/** Asks the server at an http origin whether it speaks TLS. */
export async function speaksTls(origin: string): Promise<boolean> {
  return (await shakeHands(origin)) === "tls";
}

/** What OpenSSL says when the other side sends something else, and Node when it closes the connection. */
const OTHER = /^(?:EPROTO|ECONNRESET|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG)$/;
const NO_CONNECTION = /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)$/;

/** Any other error, such as that of an untrusted certificate, comes from a handshake. */
function shakeHands(origin: string): Promise<"tls" | "other" | "nothing"> {
  return new Promise((resolve) => {
    const address = addressOf(origin);
    const socket = connect({ ...address, servername: serverNameOf(address.host), rejectUnauthorized: true });
    const end = (answer: "tls" | "other" | "nothing") => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => end("other"), LIMIT_MS);
    socket.once("secureConnect", () => end("tls"));
    socket.on("error", ({ code = "" }: NodeJS.ErrnoException) => {
      if (NO_CONNECTION.test(code)) end("nothing");
      else end(OTHER.test(code) ? "other" : "tls");
    });
  });
}
