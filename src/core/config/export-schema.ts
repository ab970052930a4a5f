import { isFixedHeader } from "../http/header-policy.ts";
import type { KeySource } from "../secrets/key-source.ts";
import { isLoopbackHost } from "./base-url.ts";
import { keySource } from "./key-source-schema.ts";
import { KEY_VALUE_FOUND, looksLikeKey } from "./problem.ts";
import { choice, dictionary, flag, integer, list, object, text } from "./shape.ts";
import { checkHeaderValue } from "./string-rules.ts";

const SCHEME = /^[A-Za-z][A-Za-z0-9-]{0,31}$/;
const LONGEST_INTERVAL_MS = 3_600_000;

const checkScheme = (value: string) =>
  SCHEME.test(value) ? null : 'must be an authentication scheme such as "Bearer" or "Basic"';

/** Also accepts names of credentials: their values come from the keychain. */
function checkName(name: string): string | null {
  if (looksLikeKey(name)) return KEY_VALUE_FOUND;
  if (!/^[a-z0-9][a-z0-9-]{0,58}$/.test(name)) return "a header name may contain only a-z, 0-9 and -";
  return name === "authorization" ||
    !/^(?:host|connection|te|upgrade|content-.*|transfer-.*|proxy-.*|accept.*|user-agent)$/.test(name)
    ? null
    : "tollkeeper sets this header itself; remove it";
}

/** A header: its value in the file, or a secret from elsewhere. */
type OtlpHeader = { value: string } | { scheme: string | null; source: KeySource };

const header = object({
  value: text(checkHeaderValue)
    .optional()
    .describe("The value, e.g. the name of a tenant; never a credential."),
  scheme: text(checkScheme)
    .optional()
    .describe('What precedes the secret, e.g. "Bearer" or "Basic". Nothing by default.'),
  keySource: keySource.optional().describe("The source of the secret if it is not in the keychain."),
}).resolve(({ value, scheme, keySource: source }): OtlpHeader | { problem: string } => {
  if (value === undefined) return { scheme: scheme ?? null, source: source ?? { kind: "keychain" } };
  if (scheme !== undefined || source !== undefined)
    return { problem: 'must not have "scheme" or "keySource" beside "value"' };
  return { value };
});

const naming = choice("hash", "name").nullable().default(null);

/** Where records and metrics are sent by OTLP, OpenTelemetry's protocol. */
export const otlp = object({
  endpoint: text()
    .keywords({ format: "uri" })
    .resolve(parseOtlpEndpoint)
    .describe(
      'The collector\'s URL for OTLP over HTTP, without the path of a signal, e.g. "https://otel.example.com:4318".',
    ),
  plainHttp: flag()
    .default(false)
    .describe(
      "Whether http:// is allowed to a host other than this machine, where anyone on the network path can read what is sent. Secret headers are then refused.",
    ),
  headers: dictionary(checkName, header)
    .default({})
    .describe(
      'Headers of each request, e.g. { "authorization": { "scheme": "Bearer" } }; secrets come from the keychain, where `tollkeeper export header NAME` stores them.',
    ),
  intervalMs: integer(1_000, LONGEST_INTERVAL_MS)
    .default(10_000)
    .describe("How often new records are sent, in milliseconds."),
  signals: list(choice("records", "metrics"))
    .default(["records", "metrics"])
    .describe(
      "What is sent: a log record or span for each record, and metrics. Some receivers take only one of them.",
    ),
  trace: flag()
    .default(false)
    .describe(
      "Whether each record is sent as a span, in the trace that its traceparent header names, instead of as a log record.",
    ),
  machine: naming.describe(
    "How data names this machine: by a salted hash, by its host name, or not at all (null).",
  ),
  user: naming.describe("How data names you: by a salted hash, by your user name, or not at all (null)."),
  resource: dictionary(
    (name) =>
      /^(?!service\.(?:name|version|instance)|host\.|user\.)[a-z][a-z0-9_.]{0,127}$/.test(name)
        ? null
        : "must be the name of an attribute that tollkeeper does not set, such as deployment.environment.name",
    text(checkHeaderValue),
  )
    .default({})
    .describe('Further attributes of all data, e.g. { "service.namespace": "team-a" }.'),
}).resolve((given) => {
  const { endpoint, plainHttp, headers } = given;
  const open = Object.entries(headers).find(([name, entry]) => "value" in entry && !isFixedHeader(name))?.[0];
  if (open !== undefined)
    return {
      problem: `has a "value" for the header ${open}, which may be a credential; remove it, and store the secret with: tollkeeper export header ${open}`,
    };
  if (!endpoint.isPlain) return given;
  if (!plainHttp)
    return {
      problem:
        'has an endpoint that is neither https nor on this machine, so anyone on the network path could read the data; use https, or accept that with "plainHttp": true',
    };
  const secret = Object.entries(headers).find(([, entry]) => "source" in entry)?.[0];
  if (secret === undefined) return given;
  return {
    problem: `would send the secret of the header ${secret} unencrypted; use https, or remove the header`,
  };
});

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
function parseOtlpEndpoint(address: string): OtlpEndpoint | { problem: string } {
  if (looksLikeKey(address)) return { problem: KEY_VALUE_FOUND };
  if (!/^https?:\/\/[^/]/i.test(address) || !URL.canParse(address))
    return { problem: 'must be an absolute URL such as "https://otel.example.com:4318"' };
  const { origin, protocol, hostname, pathname, username, password } = new URL(address);
  if (username !== "" || password !== "")
    return { problem: "must not contain a user name or password; see headers" };
  if (/[?#]/.test(address)) return { problem: 'must end before "?" and "#"' };
  const basePath = pathname.replace(/\/+$/, "");
  if (SIGNAL.test(basePath)) return { problem: 'must end before "/v1/logs", which tollkeeper adds itself' };
  return { origin, basePath, isPlain: protocol === "http:" && !isLoopbackHost(hostname) };
}
