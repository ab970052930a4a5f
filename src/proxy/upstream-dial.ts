import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls, createSecureContext, type SecureContext } from "node:tls";

/** Ways to an upstream: a connection that is being made, never one that exists. */
export interface Dial {
  /** What the socket emits once the upstream can be sent to. */
  readonly readyEvent: "connect" | "secureConnect";
  open(): Socket;
}

/** For all connections: small pieces leave at once, and a peer or a NAT that has forgotten us shows within 25 s. */
const TCP = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000 };

/** Node refuses an address as the name to ask for (RFC 6066 section 3); its certificate is checked all the same. */
const serverNameOf = (host: string): string => (isIP(host) === 0 ? host : "");

/** The way to an origin: `https://HOST[:PORT]`, or `http:` for an upstream on this machine. */
export function createDial(origin: string): Dial {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  if (protocol === "https:") return new SecureDial(host, port === "" ? 443 : Number(port));
  const address = { ...TCP, host, port: port === "" ? 80 : Number(port) };
  return { readyEvent: "connect", open: () => connect(address) };
}

/**
 * TLS, with the latest session offered again: its handshake spares the upstream's certificate, and with TLS 1.2 a round
 * trip as well. Sessions live in memory only. Certificates are always verified, whatever the environment says (facts/
 * threats.md B5).
 */
class SecureDial implements Dial {
  readonly readyEvent = "secureConnect";
  readonly #address: { host: string; port: number };
  /** Made once: the first one of a process reads all root certificates (7 ms), and each takes 0.2 ms. */
  readonly #secureContext: SecureContext = createSecureContext();
  #session: Buffer | undefined;

  constructor(host: string, port: number) {
    this.#address = { host, port };
  }

  open(): Socket {
    // Offered to one handshake at a time: should that fail, the session may be the reason.
    const session = this.#session;
    this.#session = undefined;
    const socket = connectTls({
      ...TCP,
      ...this.#address,
      servername: serverNameOf(this.#address.host),
      secureContext: this.#secureContext,
      rejectUnauthorized: true,
      session,
    });
    // With TLS 1.2 the upstream need not give a new one.
    socket.once("secureConnect", () => (this.#session ??= session));
    socket.on("session", (latest) => (this.#session = latest));
    return socket;
  }
}
