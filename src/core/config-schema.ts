import { z } from "zod";
import { readBaseUrl } from "./base-url.ts";
import {
  judgeCredentialName,
  judgeFilePath,
  judgeHost,
  judgeKeyName,
  judgeOrigin,
  judgeRoutePath,
  NAME,
} from "./config-text.ts";
import type { KeySource } from "./key-source.ts";

/** Longest time that a Node timer takes; a longer one would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** A string that `judge` finds nothing wrong with. */
function text(judge: (text: string) => string | null) {
  return z.string().superRefine((value, context) => {
    const problem = judge(value);
    if (problem !== null) context.addIssue(problem);
  });
}

/** An object of named entries. Names are judged by `findRuleFaults`, so that a bad one does not hide what is below it. */
function named<Entry extends z.ZodType>(entry: Entry) {
  return z.record(z.string().meta({ pattern: NAME.source }), entry).default({});
}

const milliseconds = z.int().min(0).max(MAX_TIMER_MS);

const auth = z.enum(["bearer", "x-api-key"]);

const dialect = z.enum(["messages", "responses", "none"]);

const keySource = z
  .strictObject({
    file: text(judgeFilePath).optional().describe("File with the key in it, mode 0600."),
    command: z
      .tuple([z.string().min(1)], z.string())
      .optional()
      .describe('Command that prints the key, run without a shell, e.g. ["pass", "show", "x"].'),
    credential: text(judgeCredentialName).optional().describe("Name of a systemd credential."),
  })
  .meta({ minProperties: 1, maxProperties: 1 })
  .transform(({ file, command, credential }, context): KeySource => {
    const given: KeySource[] = [];
    if (file !== undefined) given.push({ kind: "file", path: file });
    if (command !== undefined) given.push({ kind: "command", argv: command });
    if (credential !== undefined) given.push({ kind: "credential", name: credential });
    const [source] = given;
    if (source !== undefined && given.length === 1) return source;
    context.addIssue('must hold exactly one of "file", "command" and "credential"');
    return z.NEVER;
  });

const extraRoute = z
  .strictObject({
    method: z.enum(["GET", "POST"]).describe("The one method that the route takes."),
    path: text(judgeRoutePath).describe('Path below /v1; one segment may be "{id}".'),
    auth: auth.describe("How the upstream wants the key on this route."),
    dialect: dialect.describe("Whose usage the answers carry; none when they carry none."),
    spend: z
      .enum(["count", "attach_by_response_id", "never"])
      .optional()
      .describe("Whether usage counts as spend. Default: count for POST, attach_by_response_id for GET."),
  })
  .transform(({ spend, ...route }) => ({
    ...route,
    spend: spend ?? (route.method === "GET" ? "attach_by_response_id" : "count"),
  }));

const upstream = z
  .strictObject({
    baseUrl: z
      .string()
      .meta({ format: "uri", description: 'Where requests go, e.g. "https://api.example.com/v1".' })
      .transform((value, context) => {
        const address = readBaseUrl(value);
        if (!("problem" in address)) return address;
        context.addIssue(address.problem);
        return z.NEVER;
      }),
    key: text(judgeKeyName)
      .default("default")
      .describe("Name of the key, as `tollkeeper key set` stores it; never the key itself."),
    keySource: keySource
      .default({ kind: "keychain" })
      .describe("Where the key comes from when it is not in the keychain."),
    countTokensAuth: auth
      .default("x-api-key")
      .describe("How the upstream wants the key on /messages/count_tokens."),
    anthropicVersion: z
      .string()
      .regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a date such as "2023-06-01"')
      .default("2023-06-01")
      .describe("Value of anthropic-version for clients that send none."),
    inputIncludesCache: z
      .boolean()
      .default(false)
      .describe(
        "Does this upstream's input_tokens on /messages include cache tokens? The service's own do not.",
      ),
    routes: z.array(extraRoute).default([]).describe("More upstream routes to carry. Off by default."),
  })
  .transform(({ baseUrl, ...rest }) => ({ ...baseUrl, ...rest }));

const tool = z.strictObject({
  upstream: z.string().default("default").describe("Name of the upstream that this tool uses."),
  key: text(judgeKeyName).nullable().default(null).describe("Name of the key; null for the upstream's own."),
});

const listen = z.strictObject({
  port: z.int().min(0).max(65_535).default(8655).describe("Port on 127.0.0.1 and ::1; 0 takes any free one."),
  allowedHosts: z
    .array(text(judgeHost))
    .default([])
    .describe('More values of the Host header to admit, as host[:port], e.g. "host.docker.internal:8655".'),
  allowedOrigins: z
    .array(text(judgeOrigin))
    .default([])
    .describe("Web origins to admit, e.g. that of an editor's web view. All others are refused."),
});

const ledger = z.strictObject({
  directory: text(judgeFilePath)
    .nullable()
    .default(null)
    .describe("Where usage records are kept; null for `ledger` in the state directory."),
  retainDays: z.int().min(1).default(400).describe("Days after which records are removed."),
});

const abort = z.strictObject({
  graceMs: milliseconds
    .default(500)
    .describe("How long the upstream may still report its usage after the client left, in milliseconds."),
});

const limits = z.strictObject({
  bodyBytes: z.int().min(1).default(134_217_728).describe("Largest request body, in bytes."),
  bodyIdleMs: milliseconds
    .min(1)
    .default(60_000)
    .describe("Longest silence of a tool within its request's body, in milliseconds."),
  firstByteMs: milliseconds
    .min(1)
    .default(600_000)
    .describe("Wait for the answer's first byte, in milliseconds."),
  betweenBytesMs: milliseconds
    .min(1)
    .default(900_000)
    .describe("Longest silence of the upstream within an answer, in milliseconds."),
  drainMs: milliseconds.default(30_000).describe("Time that open streams get at a stop, in milliseconds."),
});

/** The configuration file: every key, its default and its meaning, once. Its output is `Config` of config.ts. */
export const configSchema = z
  .strictObject({
    $schema: z.string().optional().describe("Where editors find the schema of this file."),
    listen: listen.prefault({}).describe("Where tollkeeper listens, and whom it lets in."),
    upstreams: named(upstream)
      .transform((upstreams) =>
        Object.fromEntries(Object.entries(upstreams).map(([name, entry]) => [name, { name, ...entry }])),
      )
      .describe('Where requests go. One must be called "default". With none, the built-in sandbox serves.'),
    tools: named(tool).describe('Tools that do not use the "default" upstream with its own key.'),
    ledger: ledger.prefault({}).describe("The usage records."),
    abort: abort.prefault({}).describe("What happens when a client leaves."),
    limits: limits.prefault({}).describe("Bounds of one request."),
  })
  .transform(({ $schema: _forEditors, ...config }) => config);

/** The file's JSON Schema (draft 7, which editors know best): what may be written, with every key explained. */
export function buildJsonSchema(): z.core.JSONSchema.BaseSchema {
  return {
    $id: "urn:tollkeeper:config",
    title: "tollkeeper configuration",
    ...z.toJSONSchema(configSchema, { io: "input", target: "draft-7" }),
  };
}
