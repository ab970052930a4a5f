import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { describeHolder, freePortHint } from "../../adapters/port-holder.ts";
import { Failure, hasCode, messageOf } from "../../core/failure.ts";
import { DEFAULT_PORT } from "../../core/config/own-address.ts";
import { ACCEPT_QUEUE } from "../../core/http/accept-queue.ts";

/** Both, because clients resolve `localhost` to either. No option adds another address (SECURITY.md A15). */
const LOOPBACK_ADDRESSES = ["127.0.0.1", "::1"] as const;

/** A port that is free to try, in place of one that is taken or only for root. */
function otherThan(port: number): number {
  if (port < FIRST_FOR_ALL) return DEFAULT_PORT;
  return port < LAST_PORT ? port + 1 : port - 1;
}

/** Below it, only root may listen. */
const FIRST_FOR_ALL = 1_024;
const LAST_PORT = 65_535;

/**
 * Listens on both loopback addresses; on a machine without IPv6, on one. Connections are paused, and may be half open. Port 0 picks a
 * free port. Rejects with a Failure when the port is taken or not allowed.
 */
export async function listenOnLoopback(
  port: number,
  onConnection: (client: Socket) => void,
): Promise<Server[]> {
  const servers: Server[] = [];
  let bound = port;
  for (const host of LOOPBACK_ADDRESSES) {
    const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, onConnection);
    try {
      server.listen({ port: bound, host, ipv6Only: host === "::1", backlog: ACCEPT_QUEUE });
      await once(server, "listening");
    } catch (error) {
      const isMissing = hasCode(error, "EADDRNOTAVAIL") || hasCode(error, "EAFNOSUPPORT");
      if (isMissing && host === "::1") continue;
      for (const open of servers) open.close();
      throw explain(error, bound);
    }
    servers.push(server);
    bound = (server.address() as AddressInfo).port;
  }
  return servers;
}

/** Returns the addresses as people write them, e.g. `[::1]:8655`. */
export function writeAddresses(servers: readonly Server[]): string[] {
  return servers.map((server) => {
    const { address, port } = server.address() as AddressInfo;
    return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
  });
}

function explain(error: unknown, port: number): unknown {
  const other = `to use another port, type: tollkeeper bridge --socket PATH --port ${otherThan(port)}`;
  if (hasCode(error, "EADDRINUSE")) {
    const message = `port ${port} is taken by ${describeHolder(port)}`;
    return new Failure(message, `${other}; or ${freePortHint(port)}`, { cause: error });
  }
  if (hasCode(error, "EACCES")) return new Failure(messageOf(error), other, { cause: error });
  return error;
}
