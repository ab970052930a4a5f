import type { KeySource } from "../secrets/key-source.ts";
import { parseBaseUrl } from "./base-url.ts";
import { checkKeyName } from "./names.ts";
import { checkNoProxy } from "./no-proxy.ts";
import { DEFAULT_PORT } from "./own-address.ts";
import { parseProxyUrl } from "./proxy-url.ts";
import { choice, flag, integer, list, listFrom, named, object, shortOrObject, text } from "./shape.ts";
import type { JsonSchema } from "./shape.ts";
import {
  checkCredentialName,
  checkFilePath,
  checkHost,
  checkOrigin,
  checkRoutePath,
} from "./string-rules.ts";

/** The longest delay that Node's timers support; a longer one would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** A duration. `minimum` is 0 where no wait at all makes sense. */
const milliseconds = (minimum: number) => integer(minimum, MAX_TIMER_MS);

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const checkDate = (value: string) => (DATE.test(value) ? null : 'must be a date such as "2023-06-01"');

const checkProgram = (value: string) => (value === "" ? "must not be empty" : null);

const auth = choice("bearer", "x-api-key");

const keySource = object({
  file: text(checkFilePath).optional().describe("File with the key in it, mode 0600."),
  command: listFrom(text(checkProgram).keywords({ minLength: 1 }), text())
    .optional()
    .describe('Command that prints the key, run without a shell, e.g. ["pass", "show", "x"].'),
  credential: text(checkCredentialName).optional().describe("Name of a systemd credential."),
})
  .keywords({ minProperties: 1, maxProperties: 1 })
  .resolve(({ file, command, credential }): KeySource | { problem: string } => {
    const given: KeySource[] = [];
    if (file !== undefined) given.push({ kind: "file", path: file });
    if (command !== undefined) given.push({ kind: "command", argv: command });
    if (credential !== undefined) given.push({ kind: "credential", name: credential });
    const [source] = given;
    if (source !== undefined && given.length === 1) return source;
    return { problem: 'must hold exactly one of "file", "command" and "credential"' };
  });

const extraRoute = object({
  method: choice("GET", "POST").describe("The one method that the route takes."),
  path: text(checkRoutePath).describe('Path below /v1; one segment may be "{id}".'),
  auth: auth.describe("How the upstream wants the key on this route."),
  dialect: choice("messages", "responses", "none").describe(
    "Whose usage the answers carry; none when they carry none.",
  ),
  spend: choice("count", "attach_by_response_id", "never")
    .optional()
    .describe("Whether usage counts as spend. Default: count for POST, attach_by_response_id for GET."),
}).resolve(({ spend, ...route }) => ({
  ...route,
  spend: spend ?? (route.method === "GET" ? "attach_by_response_id" : "count"),
}));

const KEYCHAIN: KeySource = { kind: "keychain" };
const NO_KEY: KeySource = { kind: "none" };

const upstream = object({
  baseUrl: text()
    .keywords({ format: "uri" })
    .resolve(parseBaseUrl)
    .describe('Where requests go, e.g. "https://api.example.com/v1".'),
  key: text(checkKeyName)
    .default("default")
    .describe("Name of the key, as `tollkeeper key set` stores it; never the key itself."),
  keySource: keySource.optional().describe("Where the key comes from when it is not in the keychain."),
  auth: choice("bearer", "x-api-key", "none")
    .nullable()
    .default(null)
    .describe(
      'How the upstream wants the key on every built-in route; "none" sends no key at all, e.g. to a local server. Default: as each route has it.',
    ),
  countTokensAuth: auth
    .default("x-api-key")
    .describe("How the upstream wants the key on /messages/count_tokens."),
  anthropicVersion: text(checkDate)
    .keywords({ pattern: DATE.source })
    .default("2023-06-01")
    .describe("Value of anthropic-version for clients that send none."),
  inputIncludesCache: flag()
    .default(false)
    .describe(
      "Does this upstream's input_tokens on /messages include cache tokens? The service's own do not.",
    ),
  routes: list(extraRoute).default([]).describe("More upstream routes to carry. Off by default."),
}).resolve(({ baseUrl, keySource: source, ...rest }) => ({
  ...baseUrl,
  ...rest,
  keySource: rest.auth === "none" ? NO_KEY : (source ?? KEYCHAIN),
}));

const tool = object({
  upstream: text().default("default").describe("Name of the upstream that this tool uses."),
  key: text(checkKeyName).nullable().default(null).describe("Name of the key; null for the upstream's own."),
});

const listen = object({
  port: integer(0, 65_535).default(DEFAULT_PORT).describe("Port on 127.0.0.1 and ::1; 0 takes any free one."),
  allowedHosts: list(text(checkHost))
    .default([])
    .describe('More values of the Host header to admit, as host[:port], e.g. "host.docker.internal:8655".'),
  allowedOrigins: list(text(checkOrigin))
    .default([])
    .describe("Web origins to admit, e.g. that of an editor's web view. All others are refused."),
});

/** The highest uid on Linux and macOS; the value above it means "no user" (chown(2)). */
const MAX_UID = 4_294_967_294;

const accessMode = choice("open", "token");

/** Which programs on this machine are served: one word, or an object with more options. */
const access = shortOrObject(
  accessMode,
  object({
    mode: accessMode
      .default("open")
      .describe(
        'Who is served: every program of yours, or with "token" those alone that show a local token.',
      ),
    peerUid: list(integer(0, MAX_UID))
      .default([])
      .describe(
        "Users beside yourself and root whose programs may connect, by uid, e.g. those of containers.",
      ),
  }),
).resolve((given) => (typeof given === "string" ? { mode: given, peerUid: [] } : given));

const outbound = object({
  httpsProxy: text()
    .keywords({ format: "uri" })
    .resolve(parseProxyUrl)
    .nullable()
    .default(null)
    .describe(
      'HTTP proxy on the way to upstreams, e.g. "http://proxy.example.com:8080", with USER:PASSWORD@ before the host where it asks for that; only you may then read this file.',
    ),
  noProxy: list(text(checkNoProxy))
    .default([])
    .describe(
      'Upstreams to reach without it: "example.com" with its subdomains, ".example.com" for those alone, "10.0.0.0/8", any with ":PORT", or "*". Loopback always is.',
    ),
  caFile: text(checkFilePath)
    .nullable()
    .default(null)
    .describe("File with certificates of authorities to trust beside the usual ones, in PEM."),
}).resolve(({ httpsProxy, ...rest }) => ({
  proxy: httpsProxy,
  ...rest,
  /** The content of `caFile`. The reader of the file fills it in, so that a changed certificate changes the configuration. */
  authorities: [] as string[],
}));

const ledger = object({
  directory: text(checkFilePath)
    .nullable()
    .default(null)
    .describe(
      "Where usage records are kept, a directory that only you can enter; null for `ledger` in the state directory.",
    ),
  retainDays: integer(1).default(400).describe("Days after which records are deleted."),
  noteAfterMs: milliseconds(0)
    .default(1_000)
    .describe(
      "Age at which a running request is noted beside the records, so that a crash does not hide it, in milliseconds.",
    ),
  project: flag()
    .default(false)
    .describe(
      "Should records say which directory the tool's process works on? A repository's root, if it is in one.",
    ),
});

const abort = object({
  graceMs: milliseconds(0)
    .default(500)
    .describe("How long the upstream may still report its usage after the client left, in milliseconds."),
});

const limits = object({
  bodyBytes: integer(1).default(134_217_728).describe("Largest request body, in bytes."),
  bodyIdleMs: milliseconds(1)
    .default(60_000)
    .describe("Longest silence of a tool within its request's body, in milliseconds."),
  bufferBytes: integer(0)
    .default(268_435_456)
    .describe("Memory for what waits until tools and upstreams read it, of all of them together, in bytes."),
  firstByteMs: milliseconds(1)
    .default(600_000)
    .describe("Wait for the answer's first byte, in milliseconds."),
  betweenBytesMs: milliseconds(1)
    .default(900_000)
    .describe("Longest silence of the upstream within an answer, in milliseconds."),
  drainMs: milliseconds(0).default(30_000).describe("Time that open streams get at a stop, in milliseconds."),
});

/** The configuration file: every key with its default and its meaning. It resolves to `Config` of config.ts. */
export const configSchema = object({
  $schema: text().optional().describe("Where editors find the schema of this file."),
  listen: listen.default({}).describe("Where tollkeeper listens, and whom it lets in."),
  access: access
    .default("open")
    .describe('Which programs of this machine are served; "open" and "token" stand for {"mode": ...}.'),
  upstreams: named(upstream)
    .default({})
    .resolve((upstreams) =>
      Object.fromEntries(Object.entries(upstreams).map(([name, entry]) => [name, { name, ...entry }])),
    )
    .describe('Where requests go. One must be called "default". With none, the built-in sandbox serves.'),
  tools: named(tool).default({}).describe('Tools that do not use the "default" upstream with its own key.'),
  outbound: outbound.default({}).describe("How upstreams are reached. The environment is not asked."),
  ledger: ledger.default({}).describe("The usage records."),
  abort: abort.default({}).describe("What happens when a client leaves."),
  limits: limits.default({}).describe("Bounds of requests."),
}).resolve(({ $schema: _forEditors, ...config }) => config);

/** Returns the file's JSON Schema, with every key described. Draft 7, which editors support best. */
export function buildJsonSchema(): JsonSchema {
  return {
    $id: "urn:tollkeeper:config",
    title: "tollkeeper configuration",
    $schema: "http://json-schema.org/draft-07/schema#",
    ...configSchema.jsonSchema,
  };
}
