import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls, createSecureContext, rootCertificates, type SecureContext } from "node:tls";
import { buildProxyCredentialHeader } from "../../core/http/headers.ts";
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
    const tunnel = this.#openTunnel?.();
    const socket = connectTls({
      ...TCP,
      ...this.#address,
      ...(tunnel === undefined ? {} : { socket: tunnel }),
      servername: serverNameOf(this.#address.host),
      secureContext: this.#secureContext,
      rejectUnauthorized: true,
      session,
    });
    // The TLS socket reports the error too, but looks usable for a moment, in which a request could be given to it.
    tunnel?.on("error", (error) => socket.destroy(error));
    // With TLS 1.2 the upstream does not have to issue a new session.
    socket.once("secureConnect", () => (this.#session ??= session));
    socket.on("session", (latest) => (this.#session = latest));
    return socket;
  }
}
