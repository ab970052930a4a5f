import type { Config } from "./config.ts";

/**
 * How upstreams are reached, and which certificate authorities are trusted. Comes from the configuration only, never from
 * environment variables: a service has none of the user's, and a stray one could redirect the traffic that carries the key.
 */
export type Outbound = Config["outbound"];

/** True when both reach every upstream the same way. Also compares the proxy's password, which JSON does not show. */
export function isSameOutbound(one: Outbound, other: Outbound): boolean {
  const [a, b] = [one.proxy?.credentials ?? null, other.proxy?.credentials ?? null];
  const hasSameCredentials = a === null || b === null ? a === b : a.isSameAs(b);
  return hasSameCredentials && JSON.stringify(one) === JSON.stringify(other);
}

/** Describes it to people, one line per deviation from the default. Never includes the password. */
export function describeOutbound({ proxy, noProxy, caFile }: Outbound): string[] {
  const lines: string[] = [];
  if (proxy !== null) {
    const login = proxy.credentials === null ? "" : ", with user name and password";
    const exceptions = noProxy.length === 0 ? "" : `; not for ${noProxy.join(", ")}`;
    lines.push(`reaches upstreams through the proxy ${proxy.origin}${login}${exceptions}`);
  }
  if (caFile !== null) lines.push(`also trusts the certificate authorities in ${caFile}`);
  return lines;
}
