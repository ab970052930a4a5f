import { createRequire } from "node:module";
import type { TestContext } from "node:test";

/** Node's internal TCP handle, below `net`. */
interface Handle {
  readonly fd: number;
  bind(address: string, port: number): number;
  bind6(address: string, port: number, flags: number): number;
  getsockname(out: { port?: number }): number;
  close(): void;
}

interface TcpWrap {
  TCP: new (type: number) => Handle;
  constants: { SERVER: number; UV_TCP_IPV6ONLY: number };
}

/** Bound sockets on which this process never accepts, like those of a service manager. */
export interface BoundSockets {
  port: number;
  /** IPv4 first. */
  descriptors: number[];
}

/**
 * Binds both loopback addresses on one port, until the test ends. Uses Node's internal handle, because a `net.Server` would
 * accept connections in this process, which are meant for the daemon that inherits the sockets.
 */
export function bindSockets(
  t: TestContext,
  addresses: readonly string[] = ["127.0.0.1", "::1"],
): BoundSockets {
  const { TCP, constants } = tcpWrap();
  const name: { port?: number } = {};
  const descriptors = addresses.map((address) => {
    const handle = new TCP(constants.SERVER);
    t.after(() => handle.close());
    const isV6 = address.includes(":");
    const port = name.port ?? 0;
    const failed = isV6 ? handle.bind6(address, port, constants.UV_TCP_IPV6ONLY) : handle.bind(address, port);
    if (failed !== 0) throw new Error(`cannot bind ${address}: ${failed}`);
    handle.getsockname(name);
    return handle.fd;
  });
  return { port: name.port ?? 0, descriptors };
}

function tcpWrap(): TcpWrap {
  // Undocumented, without a type, and fit for tests only.
  const { binding } = createRequire(import.meta.url)("node:process") as { binding(name: string): TcpWrap };
  return binding("tcp_wrap");
}
