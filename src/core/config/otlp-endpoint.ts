import { isLoopbackHost } from "./base-url.ts";
import { KEY_VALUE_FOUND, looksLikeKey } from "./problem.ts";

/** Where an OpenTelemetry collector takes data by OTLP/HTTP. */
interface OtlpEndpoint {
  /** Scheme, host and port, as `URL.origin` gives it. */
  origin: string;
  /** What comes before `/v1/logs` and the like; empty for none. */
  basePath: string;
  /** True where anyone on the way could read what is sent. */
  isPlain: boolean;
}

/** The signal that people paste along with the endpoint. */
const SIGNAL = /\/v1\/(?:logs|metrics|traces)$/;

/** Parses the address of a collector, e.g. `https://otel.example.com:4318`. Returns it, or what is wrong with it and the likely fix. */
export function parseOtlpEndpoint(text: string): OtlpEndpoint | { problem: string } {
  if (looksLikeKey(text)) return { problem: KEY_VALUE_FOUND };
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text))
    return { problem: 'must be an absolute URL such as "https://otel.example.com:4318"' };
  const { origin, protocol, hostname, pathname, username, password } = new URL(text);
  if (username !== "" || password !== "")
    return { problem: "must not contain a user name or password; see headers" };
  if (/[?#]/.test(text)) return { problem: 'must end before "?" and "#"' };
  const basePath = pathname.replace(/\/+$/, "");
  if (SIGNAL.test(basePath)) return { problem: 'must end before "/v1/logs", which tollkeeper adds itself' };
  return { origin, basePath, isPlain: protocol === "http:" && !isLoopbackHost(hostname) };
}
