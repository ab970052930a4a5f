import { connect, isIP, Socket } from "node:net";
import type { Duplex } from "node:stream";
import {
  connect as connectTls,
  createSecureContext,
  rootCertificates,
  type SecureContext,
  type TLSSocket,
} from "node:tls";
import { buildProxyCredentialHeader } from "../../core/http/credential-headers.ts";
import { shouldBypassProxy } from "../../core/config/no-proxy.ts";
import type { Outbound } from "../../core/config/outbound.ts";
import type { ProxyAddress } from "../../core/config/proxy-url.ts";
import { Tunnel } from "./tunnel.ts";

/** Opens connections to one upstream. */
export interface Dial {
  /** The event that a socket emits once it can be written to. */
  readonly readyEvent: "connect" | "secureConnect";
  /** True when connections go through the configured proxy. */
  readonly isProxied: boolean;
  /** Starts a connection. It is not ready yet. */
  open(): Socket;
}

interface Address {
  host: string;
  port: number;
}

/** For all connections: small writes are sent at once, and keep-alive probes find a dead peer or NAT entry within 25 s. */
const TCP = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000 };

/** The SNI name. Node refuses an IP address there (RFC 6066 section 3); the certificate is checked anyway. */
export const serverNameOf = (host: string): string => (isIP(host) === 0 ? host : "");

/** Returns the dial for an origin: `https://HOST[:PORT]`, or `http:` for an upstream on this machine. */
type Dialer = (origin: string) => Dial;

/** Creates a dialer from the configuration: which authorities TLS trusts, and which origins are reached through the proxy. */
export function createDialer({ proxy, noProxy, authorities }: Outbound): Dialer {
  let trust: SecureContext | null = null;
  /** Shared, and created when first needed: it reads all root certificates, which takes 7 ms, and 20 ms with further ones. */
  const secureContext = () =>
    (trust ??= createSecureContext(authorities.length === 0 ? {} : trusting(authorities)));
  const dialDirect: Dialer = (origin) => {
    const address = addressOf(origin);
    if (origin.startsWith("https:")) return new SecureDial(address, secureContext());
    return { readyEvent: "connect", isProxied: false, open: () => connect({ ...TCP, ...address }) };
  };
  return (origin) => {
    if (proxy === null || origin.startsWith("http:") || shouldBypassProxy(origin, noProxy))
      return dialDirect(origin);
    const address = addressOf(origin);
    return new SecureDial(address, secureContext(), tunnelsTo(address, proxy, dialDirect(proxy.origin)));
  };
}

/** Options that trust these authorities in addition to the defaults, which `ca` alone would replace. */
function trusting(authorities: readonly string[]) {
  return { ca: [...rootCertificates, ...authorities] };
}

/** Returns host and port of an origin, as Node takes them. */
export function addressOf(origin: string): Address {
  const { protocol, hostname, port } = new URL(origin);
  const usualPort = protocol === "https:" ? 443 : 80;
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? usualPort : Number(port) };
}

/** Returns a function that opens a tunnel to the address, over a new connection to the proxy. */
function tunnelsTo({ host, port }: Address, { credentials }: ProxyAddress, proxy: Dial): () => Tunnel {
  const options = {
    authority: `${isIP(host) === 6 ? `[${host}]` : host}:${port}`,
    credential: credentials === null ? null : buildProxyCredentialHeader(credentials),
  };
  return () => new Tunnel(proxy.open(), proxy.readyEvent, options);
}

/**
 * Opens TLS connections, directly or in a tunnel. The latest session is resumed: its handshake skips the upstream's certificate,
 * and with TLS 1.2 a network round trip. Sessions are kept in memory only. Certificates are always verified, whatever the
 * environment says (SECURITY.md B5); in a tunnel the proxy sees only ciphertext.
 */
class SecureDial implements Dial {
  readonly readyEvent = "secureConnect";
  readonly isProxied: boolean;
  readonly #address: Address;
  readonly #secureContext: SecureContext;
  readonly #openTunnel: (() => Tunnel) | undefined;
  #session: Buffer | undefined;

  /** `openTunnel` opens a tunnel to the address, for connections through a proxy. */
  constructor(address: Address, secureContext: SecureContext, openTunnel?: () => Tunnel) {
    this.#address = address;
    this.#secureContext = secureContext;
    this.#openTunnel = openTunnel;
    this.isProxied = openTunnel !== undefined;
  }

  open(): Socket {
    // Offered to one handshake at a time: if that fails, the session may be the reason.
    const session = this.#session;
    this.#session = undefined;
    const carrier = this.#openTunnel?.() ?? new Socket();
    const watch = new EndWatch(carrier);
    const socket = connectTls({
      ...this.#address,
      socket: carrier,
      servername: serverNameOf(this.#address.host),
      secureContext: this.#secureContext,
      rejectUnauthorized: true,
      session,
    });
    watch.judge(socket);
    // The TLS socket reports the error too, but looks usable for a moment, in which a request could be given to it.
    carrier.on("error", (error) => socket.destroy(error));
    if (carrier instanceof Socket) carrier.connect({ ...TCP, ...this.#address });
    // With TLS 1.2 the upstream does not have to issue a new session.
    socket.once("secureConnect", () => (this.#session ??= session));
    socket.on("session", (latest) => (this.#session = latest));
    return socket;
  }
}

/**
 * Tells the end of a TLS connection that the upstream has announced (`close_notify`) from one that anybody on the way can make, and turns
 * the latter into an error: what came before may lack its rest (RFC 9112 section 9.8; SECURITY.md D2). Node emits 'end' for both. What
 * carries the connection must not be a socket that is being connected: Node would read that outside JavaScript, where its end is not seen.
 * That costs 12 µs of processor time per small request, and nothing that can be measured per event of a stream.
 */
class EndWatch {
  #hasCarrierEnded = false;
  /** null before the end. */
  #isCut: boolean | null = null;

  /** `carrier` has no other listener yet, so this one comes before that which passes the end on to TLS. */
  constructor(carrier: Duplex) {
    carrier.once("end", () => (this.#hasCarrierEnded = true));
  }

  judge(socket: TLSSocket): void {
    const push = socket.push.bind(socket);
    socket.push = (chunk: unknown, encoding?: BufferEncoding) => {
      if (chunk === null) this.#isCut ??= this.#hasCarrierEnded;
      return push(chunk, encoding);
    };
    // After what arrived before has been read.
    socket.on("end", () => {
      if (this.#isCut === true) socket.destroy(new Error("the TLS connection ended without close_notify"));
    });
  }
}
