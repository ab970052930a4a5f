import { isLoopback } from "./base-url.ts";

/*
 * Which upstreams are reached past the proxy. No standard says; these are the rules of Go's package httpproxy
 * (golang.org/x/net/http/httpproxy, "Config"), which are written down in full. Names are not looked up.
 */

/** Judges an entry of `outbound.noProxy`: returns what is wrong with it, or null. */
export function judgeNoProxy(text: string): string | null {
  if (/[,\s]/.test(text)) return "must be one host; write each as a string of its own";
  if (readEntry(text) !== null) return null;
  return 'must be a host such as "api.example.com" (its subdomains go along), ".example.com" (only those), "10.0.0.0/8", or "*"';
}

/** Is this origin, `https://HOST[:PORT]`, reached without the proxy? What is on this machine always is. */
export function isPastProxy(origin: string, noProxy: readonly string[]): boolean {
  const { hostname, port } = new URL(origin);
  if (isLoopback(hostname)) return true;
  return noProxy.some((text) => readEntry(text)?.(hostname, port === "" ? 443 : Number(port)) === true);
}

type Matches = (host: string, port: number) => boolean;

/** null for what is no entry. */
function readEntry(text: string): Matches | null {
  const entry = text.toLowerCase();
  if (entry === "*") return () => true;
  // An address with colons, and no port behind it.
  if (bitsOf(entry) !== null) return readHost(entry);
  const [, network, length] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (network !== undefined) return readNetwork(network, Number(length));
  const [, host = "", port] = /^(.+?)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const matches = readHost(host);
  if (matches === null || port === undefined) return matches;
  return (candidate, itsPort) => itsPort === Number(port) && matches(candidate, itsPort);
}

/** In CIDR notation (RFC 4632 section 3.1): addresses that begin with the same bits. */
function readNetwork(network: string, length: number): Matches | null {
  const bits = bitsOf(network);
  if (bits === null || length > bits.length) return null;
  return (host) => {
    const itsBits = bitsOf(host);
    return itsBits?.length === bits.length && itsBits.startsWith(bits.slice(0, length));
  };
}

function readHost(text: string): Matches | null {
  const bits = bitsOf(text);
  if (bits !== null) return (host) => bitsOf(host) === bits;
  const [, dot, name] = /^(\*?\.)?([\w-]+(?:\.[\w-]+)*)$/.exec(text) ?? [];
  if (name === undefined) return null;
  return (host) => host.endsWith(`.${name}`) || (dot === undefined && host === name);
}

/** The bits of an IP address, in brackets or not, as a text of 32 or 128 times 0 or 1; null for a name. */
function bitsOf(host: string): string | null {
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(host)) {
    const bytes = host.split(".").map(Number);
    return bytes.every((byte) => byte < 256) ? bytes.map((byte) => toBits(byte, 8)).join("") : null;
  }
  const url = `http://[${host.replace(/^\[(.*)\]$/, "$1")}]`;
  if (!URL.canParse(url)) return null;
  // Written by the URL parser: groups of hexadecimal digits, the longest row of zeros as `::`.
  const [left = [], right = []] = new URL(url).hostname
    .slice(1, -1)
    .split("::")
    .map((half) => half.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => "0");
  return [...left, ...zeros, ...right].map((group) => toBits(Number.parseInt(group, 16), 16)).join("");
}

const toBits = (value: number, length: number) => value.toString(2).padStart(length, "0");
