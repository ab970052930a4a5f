import { LOOPBACK_NAMES } from "../http/admission.ts";
import type { Issue } from "./problem.ts";

/** Where tollkeeper listens when the configuration does not say. */
export const DEFAULT_PORT = 8655;

/** What the configuration file says about tollkeeper's own addresses; any JSON values. */
interface Listen {
  port: unknown;
  allowedHosts: unknown;
}

/** Finds upstreams whose base URL points at tollkeeper itself: each request would loop for ever. */
export function findOwnAddresses(
  baseUrls: readonly (readonly [upstream: string, baseUrl: unknown])[],
  { port = DEFAULT_PORT, allowedHosts = [] }: Listen,
): Issue[] {
  return baseUrls.flatMap(([upstream, baseUrl]) => {
    if (typeof baseUrl !== "string" || !URL.canParse(baseUrl)) return [];
    const url = new URL(baseUrl);
    const isListening = LOOPBACK_NAMES.includes(url.hostname) && portOf(url) === port;
    if (!isListening && !(Array.isArray(allowedHosts) && allowedHosts.includes(url.host))) return [];
    const message = "points at tollkeeper itself; it must be the address of the API behind it";
    return [{ path: ["upstreams", upstream, "baseUrl"], message }];
  });
}

function portOf({ port, protocol }: URL): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}
