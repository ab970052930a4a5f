import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls, createSecureContext, rootCertificates, type SecureContext } from "node:tls";
import { proxyCredentialHeader } from "../../core/http/headers.ts";
import { isPastProxy } from "../../core/config/no-proxy.ts";
import type { Outbound } from "../../core/config/outbound.ts";
import type { ProxyAddress } from "../../core/config/proxy-url.ts";
import { Tunnel } from "./tunnel.ts";

/** Ways to an upstream: a connection that is being made, never one that exists. */
export interface Dial {
  /** What the socket emits once the upstream can be sent to. */
  readonly readyEvent: "connect" | "secureConnect";
  /** Does the way go through the proxy? */
  readonly isProxied: boolean;
  open(): Socket;
}

interface Address {
  host: string;
  port: number;
}

/** For all connections: small pieces leave at once, and a peer or a NAT that has forgotten us shows within 25 s. */
const TCP = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000 };

/** Node refuses an address as the name to ask for (RFC 6066 section 3); its certificate is checked all the same. */
const serverNameOf = (host: string): string => (isIP(host) === 0 ? host : "");

/** Finds the way to an origin: `https://HOST[:PORT]`, or `http:` for an upstream on this machine. */
export type Dialer = (origin: string) => Dial;

/** Ways as the configuration wants them: whom TLS trusts, and which of them lead through a proxy. */
export function createDialer({ proxy, noProxy, authorities }: Outbound): Dialer {
  let trust: SecureContext | null = null;
  /** One for all, made when first needed: it reads all root certificates, 7 ms, and 20 ms where others are trusted, too. */
  const trusted = () =>
    (trust ??= createSecureContext(authorities.length === 0 ? {} : trusting(authorities)));
  const dialDirect: Dialer = (origin) => {
    const address = addressOf(origin);
    if (origin.startsWith("https:")) return new SecureDial(address, trusted());
    return { readyEvent: "connect", isProxied: false, open: () => connect({ ...TCP, ...address }) };
  };
  return (origin) => {
    if (proxy === null || origin.startsWith("http:") || isPastProxy(origin, noProxy))
      return dialDirect(origin);
    const address = addressOf(origin);
    return new SecureDial(address, trusted(), digTo(address, proxy, dialDirect(proxy.origin)));
  };
}

/** Naming authorities to Node is naming all of them. */
function trusting(authorities: readonly string[]) {
  return { ca: [...rootCertificates, ...authorities] };
}

function addressOf(origin: string): Address {
  const { protocol, hostname, port } = new URL(origin);
  const usualPort = protocol === "https:" ? 443 : 80;
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? usualPort : Number(port) };
}

/** Tunnels to this address, each over a connection of its own to the proxy. */
function digTo({ host, port }: Address, { credentials }: ProxyAddress, proxy: Dial): () => Tunnel {
  const order = {
    authority: `${isIP(host) === 6 ? `[${host}]` : host}:${port}`,
    credential: credentials === null ? null : proxyCredentialHeader(credentials),
  };
  return () => new Tunnel(proxy.open(), proxy.readyEvent, order);
}

/**
 * TLS, with the latest session offered again: its handshake spares the upstream's certificate, and with TLS 1.2 a round
 * trip as well. Sessions live in memory only. Certificates are always verified, whatever the environment says (facts/
 * threats.md B5), inside a tunnel as well: the proxy sees nothing that it could read.
 */
class SecureDial implements Dial {
  readonly readyEvent = "secureConnect";
  readonly isProxied: boolean;
  readonly #address: Address;
  readonly #secureContext: SecureContext;
  readonly #dig: (() => Tunnel) | undefined;
  #session: Buffer | undefined;

  /** `dig` makes a tunnel to the address, where the way leads through a proxy. */
  constructor(address: Address, secureContext: SecureContext, dig?: () => Tunnel) {
    this.#address = address;
    this.#secureContext = secureContext;
    this.#dig = dig;
    this.isProxied = dig !== undefined;
  }

  open(): Socket {
    // Offered to one handshake at a time: should that fail, the session may be the reason.
    const session = this.#session;
    this.#session = undefined;
    const tunnel = this.#dig?.();
    const socket = connectTls({
      ...TCP,
      ...this.#address,
      ...(tunnel === undefined ? {} : { socket: tunnel }),
      servername: serverNameOf(this.#address.host),
      secureContext: this.#secureContext,
      rejectUnauthorized: true,
      session,
    });
    // TLS tells of it, too, but then seems usable for a moment longer, in which a request could be lent it.
    tunnel?.on("error", (error) => socket.destroy(error));
    // With TLS 1.2 the upstream need not give a new one.
    socket.once("secureConnect", () => (this.#session ??= session));
    socket.on("session", (latest) => (this.#session = latest));
    return socket;
  }
}
