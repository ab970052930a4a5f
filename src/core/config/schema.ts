import { BODIES, FAMILIES, METHODS } from "../http/api.ts";
import type { KeySource } from "../secrets/key-source.ts";
import { checkRegion, regionOfHost } from "./aws-region.ts";
import { parseBaseUrl, type BaseUrl } from "./base-url.ts";
import { brake } from "./brake-schema.ts";
import { budgeted, budgets } from "./budget-schema.ts";
import { checkKeyName } from "./names.ts";
import { checkModelName, checkModelPattern } from "../policy/model-pattern.ts";
import { otlp } from "./export-schema.ts";
import { keySource } from "./key-source-schema.ts";
import { checkNoProxy } from "./no-proxy.ts";
import { DEFAULT_PORT } from "./own-address.ts";
import { PLAN_TOOLS } from "../plans/names.ts";
import { discount, prices } from "./price-schema.ts";
import { parseProxyUrl } from "./proxy-url.ts";
import {
  choice,
  dictionary,
  flag,
  integer,
  list,
  named,
  namedAndOthers,
  object,
  shortOrObject,
  text,
} from "./shape.ts";
import type { JsonSchema } from "./shape.ts";
import {
  checkAllowedQueryName,
  checkFilePath,
  checkHeaderName,
  checkHeaderValue,
  checkHost,
  checkOrigin,
  checkQueryName,
  checkQueryValue,
  checkRoutePath,
} from "./string-rules.ts";

/** The longest delay that Node's timers support; a longer one would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** A duration. `minimum` is 0 where not waiting at all makes sense. */
const milliseconds = (minimum: number) => integer(minimum, MAX_TIMER_MS);

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const checkDate = (value: string) => (DATE.test(value) ? null : 'must be a date such as "2023-06-01"');

const auth = choice("bearer", "x-api-key", "api-key", "x-goog-api-key");

/** What an upstream can serve. */
const family = choice(...FAMILIES);

/** How an upstream wants the key: one word for all routes, or one for each API. */
const upstreamAuth = shortOrObject(
  choice("bearer", "x-api-key", "api-key", "x-goog-api-key", "none", "sigv4"),
  object({
    messages: auth.optional().describe("On the routes of the Messages API."),
    responses: auth.optional().describe("On the routes of the Responses API, and on /models."),
    chat: auth.optional().describe("On /chat/completions, /completions and /embeddings."),
    gemini: auth.optional().describe("On the routes of Google's API."),
    bedrock: auth.optional().describe("On the routes of Amazon Bedrock."),
  }),
);

/** A DELETE starts no model, and reports none. */
const SPEND_OF_METHOD = { GET: "attach_by_response_id", POST: "count", DELETE: "never" } as const;

const extraRoute = object({
  method: choice(...METHODS).describe("The method that the route accepts."),
  path: text(checkRoutePath).describe('Path below /v1; one segment may be "{id}".'),
  auth: auth.describe("How the upstream wants the key on this route."),
  dialect: choice("messages", "responses", "chat", "media", "none").describe(
    "The format in which responses report usage: media for images and audio; none if they report none.",
  ),
  spend: choice("count", "attach_by_response_id", "never")
    .optional()
    .describe(
      "Whether usage counts as spend. Default: count for POST, attach_by_response_id for GET, never for DELETE.",
    ),
  accepts: list(choice(...BODIES))
    .default(["json"])
    .describe(
      'The bodies that a POST may have besides JSON: "empty", "multipart". Where there are any, no web page may use the route, of whatever origin.',
    ),
  forLimitedTools: flag()
    .optional()
    .describe(
      "Whether a tool may use a route for files, uploads or batches although its group names models, or a budget may refuse its requests. tollkeeper cannot judge what is stored. Default: no.",
    ),
}).resolve(({ spend, forLimitedTools, ...route }) => ({
  ...route,
  spend: spend ?? SPEND_OF_METHOD[route.method],
  ...(forLimitedTools === true && { forLimitedTools }),
}));

const KEYCHAIN: KeySource = { kind: "keychain" };
const NO_KEY: KeySource = { kind: "none" };

const upstream = object({
  baseUrl: text()
    .keywords({ format: "uri" })
    .resolve<BaseUrl>(parseBaseUrl)
    .describe('Where requests go, e.g. "https://api.example.com/v1".'),
  key: text(checkKeyName)
    .default("default")
    .describe("Name of the key, as `tollkeeper key set` stores it; never the key itself."),
  keySource: keySource.optional().describe("The source of the key if it is not in the keychain."),
  credential: choice("key", "client")
    .default("key")
    .describe(
      'Whose key pays: "key" for the one that is stored here, "client" for the one that each tool sends. Then no key is read, and what the tool sends goes to this upstream only.',
    ),
  auth: upstreamAuth
    .nullable()
    .default(null)
    .describe(
      'How the upstream wants the key on every built-in route, or on those of each API; "none" sends no key at all, e.g. to a local server; "sigv4" signs each request to Amazon Bedrock with AWS access keys. Default: as defined for each route.',
    ),
  region: text(checkRegion)
    .nullable()
    .default(null)
    .describe(
      'The AWS region to sign requests for, e.g. "eu-west-1", beside "auth": "sigv4"; null for that of the host name.',
    ),
  apis: list(family)
    .nullable()
    .default(null)
    .describe(
      "The APIs that this upstream serves, and images, audio or files (with uploads and batches); null for all but images, gemini (Google's API) and bedrock (Amazon's). Audio goes with responses and chat, and files with those and messages, unless the list names images, audio or files. Requests of another API go to another upstream.",
    ),
  models: list(text(checkModelPattern))
    .nullable()
    .default(null)
    .describe(
      'The models that this upstream serves, e.g. ["qwen*", "llama3.2"]; "*" stands for any characters. null for all models.',
    ),
  fallback: list(text())
    .default([])
    .describe(
      "Upstreams to ask instead, in this order, if this one has done nothing with a request: it could not be reached, or it responded with 429, 503 or 529.",
    ),
  headers: dictionary(checkHeaderName, text(checkHeaderValue))
    .default({})
    .describe(
      'Headers that are sent with each request, e.g. { "openai-organization": "org-1" }; never a key.',
    ),
  query: dictionary(checkQueryName, text(checkQueryValue))
    .default({})
    .describe(
      'Query parameters that are sent with each request, e.g. { "api-version": "preview" }; never a key.',
    ),
  allowQuery: list(text(checkAllowedQueryName))
    .default([])
    .describe(
      'Query parameters of tools that are forwarded although their names look like a credential, e.g. ["sig"]. All others of such names are left out.',
    ),
  countTokensAuth: auth
    .default("x-api-key")
    .describe("How the upstream wants the key on /messages/count_tokens."),
  anthropicVersion: text(checkDate)
    .keywords({ pattern: DATE.source })
    .default("2023-06-01")
    .describe("Value of the anthropic-version header for clients that send none."),
  inputIncludesCache: flag()
    .default(false)
    .describe("Whether this upstream's input_tokens on /messages include cache tokens. Anthropic's do not."),
  websocket: choice("auto", false)
    .default(false)
    .describe(
      'Whether tools may use a WebSocket on /responses; "auto" asks the upstream, and tools use POST where it has none. false: they always use POST.',
    ),
  freeWarmups: flag()
    .default(false)
    .describe(
      'Whether this upstream charges nothing for warm-ups: responses on a WebSocket that are only prepared ("generate": false). They are recorded, and count as nothing.',
    ),
  routes: list(extraRoute)
    .default([])
    .describe("Routes to forward besides the built-in ones, or instead of one of these. None by default."),
  prices: prices.describe("What models cost at this upstream, before the prices of all; see there."),
  discount: discount.describe(
    "Percent that this upstream takes off every price, wherever the price comes from.",
  ),
}).resolve(({ baseUrl, keySource: source, ...rest }) => ({
  ...baseUrl,
  ...rest,
  region: rest.region ?? regionOfHost(baseUrl.baseUrl),
  keySource:
    rest.auth === "none" || rest.credential === "client"
      ? NO_KEY
      : sourceOf(source ?? KEYCHAIN, rest.auth === "sigv4"),
}));

/** What signs requests is no key. */
function sourceOf(source: KeySource, isSigned: boolean): KeySource {
  return isSigned && source.kind === "command" ? { ...source, prints: "aws-keys" } : source;
}

/** The model to request, by the one that a tool names. */
const aliases = dictionary(checkModelName, text(checkModelName)).default({});

const group = object({
  models: list(text(checkModelPattern))
    .nullable()
    .default(null)
    .describe(
      'The models that its tools may request, e.g. ["claude-haiku-*"]; "*" stands for any characters. null for all models.',
    ),
  key: text(checkKeyName)
    .nullable()
    .default(null)
    .describe(
      "Name of the key for tools of the group that have no key of their own; null for the upstream's.",
    ),
  budgets: budgets.describe("What its tools may spend together. None by default."),
  brake: brake.describe(
    'How fast its tools together may send requests: "gentle", or limits; null for no limit.',
  ),
});

const groupOfTool = text().nullable().default(null);

const tool = object({
  upstreams: list(text())
    .nullable()
    .default(null)
    .describe(
      "Names of the upstreams that this tool may use; null for all. Their order is that of the file.",
    ),
  key: text(checkKeyName)
    .nullable()
    .default(null)
    .describe("Name of this tool's key in the keychain; null for its group's, or else the upstream's own."),
  group: groupOfTool.describe('The group that says what this tool may do; null for the group of "*".'),
  aliases: aliases.describe(
    "Models to request instead of those that this tool names, before the aliases of all.",
  ),
  budgets: budgets.describe("What this tool may spend. None by default."),
  brake: brake.describe('How fast this tool may send requests: "gentle", or limits; null for no limit.'),
});

/** The tools without a group of their own. */
const otherTools = object({
  group: groupOfTool.describe("The group of every tool that names none; null for no group."),
}).describe("Every tool that names no group.");

const listen = object({
  port: integer(0, 65_535).default(DEFAULT_PORT).describe("Port on 127.0.0.1 and ::1; 0 chooses a free one."),
  socket: text(checkFilePath)
    .nullable()
    .default(null)
    .describe(
      "Path of a Unix socket to listen on as well, for containers and remote hosts, in a directory that only you can enter; null for none.",
    ),
  allowedHosts: list(text(checkHost))
    .default([])
    .describe(
      'Additional Host header values to admit, as host[:port], e.g. "host.docker.internal:8655". Under a name other than localhost, 127.0.0.1 and [::1], every request needs a local token.',
    ),
  allowedOrigins: list(text(checkOrigin))
    .default([])
    .describe("Web origins to admit, e.g. that of an editor's web view. All others are refused."),
});

/** The highest uid on Linux and macOS; the value above it means "no user" (chown(2)). */
const MAX_UID = 4_294_967_294;

const accessMode = choice("open", "token");

/** Which programs on this machine may connect: one word, or an object with more options. */
const access = shortOrObject(
  accessMode,
  object({
    mode: accessMode
      .default("open")
      .describe('Who may connect: all your programs, or with "token" only those that present a local token.'),
    peerUid: list(integer(0, MAX_UID))
      .default([])
      .describe(
        "Users other than yourself and root whose programs may connect, by uid, e.g. those of containers.",
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
      'HTTP proxy on the way to upstreams, e.g. "http://proxy.example.com:8080", with USER:PASSWORD@ before the host if it requires a login; this file must then be readable by you alone.',
    ),
  noProxy: list(text(checkNoProxy))
    .default([])
    .describe(
      'Upstreams to reach without the proxy: "example.com" with its subdomains, ".example.com" for subdomains only, "10.0.0.0/8", any of these with ":PORT", or "*". Loopback hosts never use it.',
    ),
  caFile: text(checkFilePath)
    .nullable()
    .default(null)
    .describe("PEM file with certificate authorities to trust in addition to the built-in ones."),
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
      "Directory for usage records, which only you can access; null for `ledger` in the state directory.",
    ),
  retainDays: integer(1)
    .default(400)
    .describe("Days after which records are deleted. Their daily sums are kept."),
  noteAfterMs: milliseconds(0)
    .default(1_000)
    .describe("Age in milliseconds at which a running request is noted, so that a crash does not hide it."),
  project: flag()
    .default(false)
    .describe("Whether records name the directory that the tool works in, or the root of its repository."),
});

const metrics = object({
  peerUid: list(integer(0, MAX_UID))
    .default([])
    .describe(
      "Users other than yourself whose programs may read the metrics and nothing else, by uid, e.g. that of Prometheus.",
    ),
});

const exported = object({
  metrics: metrics
    .nullable()
    .default(null)
    .describe("Metrics for Prometheus at /_tollkeeper/metrics; {} switches them on, null off."),
  otlp: otlp
    .nullable()
    .default(null)
    .describe("Records and metrics for an OpenTelemetry collector, sent by OTLP; null for none."),
});

const abort = object({
  graceMs: milliseconds(0)
    .default(500)
    .describe(
      "How long the upstream may still report usage after the client has disconnected, in milliseconds.",
    ),
});

const limits = object({
  bodyBytes: integer(1).default(134_217_728).describe("Largest request body, in bytes."),
  bodyIdleMs: milliseconds(1)
    .default(60_000)
    .describe("Longest pause within a request body, in milliseconds."),
  bufferBytes: integer(0)
    .default(268_435_456)
    .describe("Memory for data that tools and upstreams have not read yet, in total, in bytes."),
  firstByteMs: milliseconds(1)
    .default(600_000)
    .describe("Longest wait for the first byte of a response, in milliseconds."),
  betweenBytesMs: milliseconds(1)
    .default(900_000)
    .describe("Longest pause within a response, in milliseconds."),
  drainMs: milliseconds(0)
    .default(30_000)
    .describe("Time that running requests get to finish when the daemon stops, in milliseconds."),
});

const serviceLimits = object({
  notify: flag()
    .default(false)
    .describe(
      "Whether a warning that a service's limit is nearly used is also a notification on the desktop.",
    ),
});

const outliers = object({
  notify: flag()
    .default(false)
    .describe("Whether what is far out of line today is also a notification on the desktop."),
});

/** Rises when a key that a configuration may have is removed or changes its meaning. New keys do not raise it. */
export const CONFIG_VERSION = 1;

/** The configuration file: every key with its default and its meaning. It resolves to `Config` of config.ts. */
export const configSchema = object({
  $schema: text().optional().describe("Where editors find the schema of this file."),
  listen: listen.default({}).describe("Where tollkeeper listens, and which hosts and origins it admits."),
  access: access
    .default("open")
    .describe('Which programs on this machine may connect; "open" and "token" are short for {"mode": ...}.'),
  upstreams: named(upstream)
    .default({})
    .resolve(withNames)
    .describe(
      "Where requests go: to the first that serves the API and the model. Without any, the built-in sandbox responds.",
    ),
  tools: namedAndOthers(tool, otherTools)
    .default({})
    .describe(
      'Tools that may use only some of the upstreams, have a key of their own, belong to a group, or have budgets or a brake. "*" stands for every tool that names no group.',
    ),
  plans: list(choice(...PLAN_TOOLS))
    .default([])
    .describe(
      'Tools whose own login with a plan passes to its service, on a path of its own, e.g. ["claude-code"]. None by default.',
    ),
  planLogins: choice("refuse", "strip")
    .default("refuse")
    .describe(
      'What becomes of a request with the login of a plan that would be sent with a key: "refuse", or "strip" to leave out the login and let the key pay.',
    ),
  groups: named(group)
    .default({})
    .resolve(withNames)
    .describe("What tools may do; `tools` says which tool belongs to which group."),
  projects: dictionary(checkFilePath, budgeted)
    .default({})
    .describe(
      'Budgets of projects, by the directory that records name, e.g. { "~/code/shop": { "budgets": [...] } }; with "ledger": { "project": true }.',
    ),
  keys: dictionary(checkKeyName, budgeted)
    .default({})
    .describe('Budgets of keys, by their names, e.g. { "default": { "budgets": [...] } }.'),
  budgets: budgets.describe(
    'What all requests together may spend, e.g. [{ "usd": 20, "per": "day" }]. None by default.',
  ),
  aliases: aliases.describe(
    'Models to request instead of those that tools name, e.g. { "claude-haiku-4-5": "qwen3-coder" }.',
  ),
  prices: prices.describe(
    'What models cost, in place of the built-in prices, in US dollars per million tokens, e.g. { "my-model": { "input": 3, "output": 15 } }; "*" stands for any characters.',
  ),
  priceTable: text(checkFilePath)
    .nullable()
    .default(null)
    .describe(
      "File with prices that count before the built-in ones. Written by `tollkeeper prices import`, removed by `tollkeeper prices reset`.",
    ),
  outbound: outbound.default({}).describe("How upstreams are reached. Environment variables are ignored."),
  ledger: ledger.default({}).describe("The usage records."),
  export: exported
    .default({})
    .describe("Where usage is reported in addition to the ledger. Nowhere by default."),
  abort: abort.default({}).describe("What happens when a client disconnects."),
  limits: limits.default({}).describe("Limits for each request and for the daemon."),
  serviceLimits: serviceLimits
    .default({})
    .describe("Warnings of the limits that services have for an account."),
  capture: flag()
    .default(true)
    .describe(
      "Whether `tollkeeper capture` may copy requests and responses when it is asked to. false forbids it, and deletes what it has. Nothing is captured without that command.",
    ),
  outliers: outliers
    .default({})
    .describe("Notices of sessions, requests and hours that cost far more than usual."),
}).resolve(({ $schema: _forEditors, tools, ...config }) => {
  return { ...config, tools: tools.named, otherTools: tools.others };
});

/** The key by which the managed configuration file locks others. No user's file may have it. */
export const LOCKED = "locked";

/** The value of {@link LOCKED}. */
export const lockedPaths = list(text())
  .default([])
  .describe(
    'Settings that a user\'s file cannot change, e.g. ["access", "upstreams.default.baseUrl"], each with everything below it; "*" stands for every name, as in "tools.*.group".',
  );

function withNames<Entry>(entries: Record<string, Entry>): Record<string, { name: string } & Entry> {
  return Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, { name, ...entry }]));
}

/** Returns the JSON Schema of the managed file: that of a user's file, with what it may lock. */
export function buildManagedSchema(): JsonSchema {
  const schema = buildJsonSchema();
  const properties = schema["properties"] as JsonSchema;
  return {
    ...schema,
    $id: "urn:tollkeeper:managed-config",
    title: "tollkeeper managed configuration",
    properties: { ...properties, [LOCKED]: lockedPaths.jsonSchema },
  };
}

/** Returns the file's JSON Schema, with every key described. Draft 7, which editors support best. */
export function buildJsonSchema(): JsonSchema {
  return {
    $id: "urn:tollkeeper:config",
    title: "tollkeeper configuration",
    $schema: "http://json-schema.org/draft-07/schema#",
    ...configSchema.jsonSchema,
  };
}
