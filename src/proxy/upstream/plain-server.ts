import { connect } from "node:tls";
import { isLoopbackHost } from "../../core/config/base-url.ts";
import { codeOf } from "../../core/failure.ts";
import { addressOf, serverNameOf } from "./dial.ts";
import {
  isNotTls,
  wantsTls,
  withoutTls,
  type ConnectFailure,
  type NamedUpstream,
} from "../../core/refusals/upstreams.ts";

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
    if (answer === "plain" || answer === "other") this.isProven = true;
    return answer === "tls";
  }
}

/** Asks the server at an http origin whether it speaks TLS. */
export async function speaksTls(origin: string): Promise<boolean> {
  return (await shakeHands(origin)) === "tls";
}

/** Asks an upstream on this machine whether it speaks what its URL says. Returns what is wrong; null if nothing is, or it does not respond. */
export async function findWrongScheme(upstream: NamedUpstream): Promise<ConnectFailure | null> {
  const { hostname, protocol } = new URL(upstream.origin);
  if (!isLoopbackHost(hostname)) return null;
  const answer = await shakeHands(upstream.origin);
  if (protocol === "http:") return answer === "tls" ? wantsTls(upstream) : null;
  return answer === "plain" ? withoutTls(upstream) : null;
}

/** What a server does with a handshake: `plain` answers in plain text, `other` closes the connection or is silent. */
type Answer = "tls" | "plain" | "other" | "nothing";

const CLOSED = /^(?:EPROTO|ECONNRESET|EPIPE)$/;
const NO_CONNECTION = /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)$/;

/** Any other error, such as that of an untrusted certificate, comes from a handshake. */
function shakeHands(origin: string): Promise<Answer> {
  return new Promise((resolve) => {
    const address = addressOf(origin);
    const socket = connect({ ...address, servername: serverNameOf(address.host), rejectUnauthorized: true });
    const end = (answer: Answer) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => end("other"), LIMIT_MS);
    socket.once("secureConnect", () => end("tls"));
    socket.on("error", (error) => {
      const code = codeOf(error) ?? "";
      if (NO_CONNECTION.test(code)) end("nothing");
      else if (isNotTls(error)) end("plain");
      else end(CLOSED.test(code) ? "other" : "tls");
    });
  });
}
