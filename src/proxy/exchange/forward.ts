import { ProxyServer, type ServerOptions } from "http-proxy-3";
import type { PooledUpstream } from "../upstream/pools.ts";
import type { Exchange } from "./exchange.ts";
import { RoundTrip, type Outgoing, type RoundTripServices } from "./round-trip.ts";

/** The option of the library's `web` by which our pass gets its request: what to do, of which a debug output shows no more than that. */
const START = Symbol("start");
interface StartOption {
  [START](): void;
}

/** Starts a round trip to an upstream. */
type Forward = (
  exchange: Exchange,
  outgoing: Outgoing,
  services: RoundTripServices,
  pooled: PooledUpstream,
) => RoundTrip;

/**
 * Returns the only function that knows http-proxy-3, with its `stream` pass replaced. The original pass gives an upstream no time to
 * report its usage after the client has disconnected, hangs when an upstream closes the connection within a response, and rewrites
 * paths (docs/performance.md section 4, traps 1, 4 and 5). The credential is only in the headers of the round trip, never in the
 * library's options, which it prints under DEBUG (trap 6).
 */
export function createForward(): Forward {
  const library = new ProxyServer({});
  library.before("web", "stream", (_req, _res, options: ServerOptions & Partial<StartOption>) => {
    options[START]?.();
    return true;
  });
  // Without a listener the library throws, which would crash the process (trap 8).
  library.on("error", (_error, _req, res) => res.destroy());

  return (exchange, outgoing, services, pooled) => {
    const { req, res } = exchange.received;
    let roundTrip: RoundTrip | null = null;
    const start = () => (roundTrip = new RoundTrip(exchange, outgoing, services, pooled));
    // The library calls the pass before `web` returns.
    const options: ServerOptions & StartOption = { target: pooled.target, [START]: start };
    library.web(req, res, options);
    if (roundTrip === null) throw new Error("the library did not run our pass");
    return roundTrip;
  };
}
