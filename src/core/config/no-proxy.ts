import { isLoopbackHost } from "./base-url.ts";

/*
 * Decides which upstreams bypass the outbound proxy. There is no standard for this; these are the rules of Go's package
 * httpproxy (golang.org/x/net/http/httpproxy, "Config"), which are documented in full. No name is resolved.
 */

/** Checks an entry of `outbound.noProxy`. Returns what is wrong with it, or null. */
export function checkNoProxy(text: string): string | null {
  if (/[,\s]/.test(text)) return "must be one host; write each host as a separate string";
  if (parseEntry(text) !== null) return null;
  return 'must be a host such as "api.example.com" (with its subdomains), ".example.com" (subdomains only), "10.0.0.0/8", or "*"';
}

/** True when an origin, `https://HOST[:PORT]`, is reached without the proxy. Loopback hosts always are. */
export function shouldBypassProxy(origin: string, noProxy: readonly string[]): boolean {
  const { hostname, port } = new URL(origin);
  if (isLoopbackHost(hostname)) return true;
  return noProxy.some((text) => parseEntry(text)?.(hostname, port === "" ? 443 : Number(port)) === true);
}

type HostMatcher = (host: string, port: number) => boolean;

/** Parses one entry; null when it is not valid. */
function parseEntry(text: string): HostMatcher | null {
  const entry = text.toLowerCase();
  if (entry === "*") return () => true;
  // An IPv6 address, whose colons do not separate a port.
  if (bitsOf(entry) !== null) return parseHost(entry);
  const [, network, length] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (network !== undefined) return parseNetwork(network, Number(length));
  const [, host = "", port] = /^(.+?)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const matches = parseHost(host);
  if (matches === null || port === undefined) return matches;
  return (candidate, actualPort) => actualPort === Number(port) && matches(candidate, actualPort);
}

/** Parses CIDR notation (RFC 4632 section 3.1), which matches every address that begins with the same bits. */
function parseNetwork(network: string, length: number): HostMatcher | null {
  const bits = bitsOf(network);
  if (bits === null || length > bits.length) return null;
  return (host) => {
    const hostBits = bitsOf(host);
    return hostBits?.length === bits.length && hostBits.startsWith(bits.slice(0, length));
  };
}

function parseHost(text: string): HostMatcher | null {
  const bits = bitsOf(text);
  if (bits !== null) return (host) => bitsOf(host) === bits;
  const [, dot, name] = /^(\*?\.)?([\w-]+(?:\.[\w-]+)*)$/.exec(text) ?? [];
  if (name === undefined) return null;
  return (host) => host.endsWith(`.${name}`) || (dot === undefined && host === name);
}

/** Returns the bits of an IP address, with or without brackets, as 32 or 128 characters `0` or `1`; null for a name. */
function bitsOf(host: string): string | null {
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(host)) {
    const bytes = host.split(".").map(Number);
    return bytes.every((byte) => byte < 256) ? bytes.map((byte) => toBits(byte, 8)).join("") : null;
  }
  const url = `http://[${host.replace(/^\[(.*)\]$/, "$1")}]`;
  if (!URL.canParse(url)) return null;
  // The URL parser writes groups of hexadecimal digits, with the longest run of zeros as `::`.
  const [left = [], right = []] = new URL(url).hostname
    .slice(1, -1)
    .split("::")
    .map((half) => half.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => "0");
  return [...left, ...zeros, ...right].map((group) => toBits(Number.parseInt(group, 16), 16)).join("");
}

const toBits = (value: number, length: number) => value.toString(2).padStart(length, "0");
