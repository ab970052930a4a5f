import type { Config } from "./config.ts";

/**
 * How upstreams are reached, and whom they are believed by: resolved from the configuration alone, never from the
 * environment, which a service has not, and by which anybody who starts it could lead the key's traffic elsewhere.
 */
export type Outbound = Config["outbound"];

/** Would both reach every upstream the same way? Compares what cannot be seen of them, too: the proxy's password. */
export function isSameOutbound(one: Outbound, other: Outbound): boolean {
  const [mine, theirs] = [one.proxy?.credentials ?? null, other.proxy?.credentials ?? null];
  const isSameUser = mine === null || theirs === null ? mine === theirs : mine.isSameAs(theirs);
  return isSameUser && JSON.stringify(one) === JSON.stringify(other);
}

/** What is told of it to people, a line each; nothing where all is as usual. Never holds the password. */
export function describeOutbound({ proxy, noProxy, caFile }: Outbound): string[] {
  const lines: string[] = [];
  if (proxy !== null) {
    const who = proxy.credentials === null ? "" : ", with user name and password";
    const but = noProxy.length === 0 ? "" : `; not for ${noProxy.join(", ")}`;
    lines.push(`reaches upstreams through the proxy ${proxy.origin}${who}${but}`);
  }
  if (caFile !== null) lines.push(`trusts the authorities in ${caFile}, too`);
  return lines;
}
