import type { Api } from "../http/api.ts";
import { INERT_HEADERS } from "../http/header-policy.ts";
import { writeOwnCommands } from "../text/own-commands.ts";
import { formatCommand } from "../text/shell-words.ts";
import { provokesRetry, withoutTriggers } from "./retry-triggers.ts";

/**
 * Where waiting cannot help: the statuses at which AI tools stop at the first attempt and show the message. At 401, 403 and
 * 5xx some retry for minutes, and some hide the message (docs/wire.md section 4).
 */
const FINAL = { messages: 402, responses: 400, chat: 400, gemini: 400, bedrock: 402 } as const;

/** Every refusal with its status, and whether a retry can help: SDKs obey `x-should-retry` (docs/wire.md section 4). */
const REFUSALS = {
  // 403 to whatever may be a web page, whichever route it asks for (SECURITY.md A1 to A3).
  host_not_allowed: { status: 403, retry: false },
  origin_not_allowed: { status: 403, retry: false },
  browser_not_allowed: { status: 403, retry: false },
  peer_not_allowed: { status: FINAL, retry: false },
  token_required: { status: FINAL, retry: false },
  bad_request: { status: 400, retry: false },
  http_version: { status: 505, retry: false },
  not_found: { status: 404, retry: false },
  model_not_found: { status: 404, retry: false },
  model_not_allowed: { status: FINAL, retry: false },
  storage_not_allowed: { status: FINAL, retry: false },
  paused: { status: FINAL, retry: false },
  braked: { status: FINAL, retry: false },
  budget_spent: { status: FINAL, retry: false },
  budget_unknown: { status: FINAL, retry: false },
  model_unreadable: { status: 400, retry: false },
  method_not_allowed: { status: 405, retry: false },
  content_type: { status: 415, retry: false },
  pipelined: { status: 503, retry: true },
  body_timeout: { status: 408, retry: true },
  buffer_full: { status: 503, retry: true },
  body_too_large: { status: 413, retry: false },
  head_too_large: { status: 431, retry: false },
  upgrade_not_supported: { status: 426, retry: false },
  plan_off: { status: FINAL, retry: false },
  plan_login: { status: FINAL, retry: false },
  client_key: { status: FINAL, retry: false },
  plan_throttled: { status: 429, retry: true },
  limit_kept: { status: 429, retry: true },
  key_missing: { status: FINAL, retry: false },
  key_locked: { status: FINAL, retry: false },
  key_unavailable: { status: FINAL, retry: false },
  key_unresponsive: { status: 503, retry: true },
  upstream_misconfigured: { status: FINAL, retry: false },
  upstream_unreachable: { status: 502, retry: true },
  upstream_invalid: { status: 502, retry: true },
  upstream_timeout: { status: 504, retry: true },
  loop_detected: { status: 508, retry: false },
  internal: { status: FINAL, retry: false },
} as const satisfies Record<string, { status: number | Record<Api, number>; retry: boolean }>;

export type RefusalCode = keyof typeof REFUSALS;

/**
 * An error response of our own. The message of its body is `tollkeeper: PROBLEM: REASON. ADVICE. Type: COMMAND`. Of `reason` and
 * `advice` the parts, which `; ` divides, at which a tool would try again are left out where that cannot help.
 */
export interface Refusal {
  code: RefusalCode;
  /** What is wrong, and with what, in few words. tollkeeper is the subject if it begins with that name. */
  problem: string;
  /** Why. */
  reason?: string | undefined;
  /** What else there is to do, or to know. */
  advice?: string | undefined;
  /** What to type next. */
  command: string;
  /** In how many seconds the same request may go; left out where that is not known. */
  waitSeconds?: number | undefined;
  /** True when the upstream has the whole request and may have done it: a retry would do it again, whatever the code says. */
  mayBeDone?: boolean;
  /** Flat list of the headers that the status requires. */
  headers?: readonly string[];
  /** True when the connection is closed after this response. */
  closesConnection?: boolean;
}

/** A request that was refused and leaves no record: it has no route, or was refused before its tool was known. */
export interface UnrecordedRefusal {
  /** ISO 8601, UTC. */
  ts: string;
  refused: RefusalCode;
  status: number;
  /** null if it was refused before its tool was known. */
  tool: string | null;
  method: string;
  /** Printable and without a query. */
  path: string;
}

/** Thrown by a step of the request path to refuse the request. */
export class RefusalError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.problem);
    this.name = "RefusalError";
    this.refusal = refusal;
  }
}

/** Returns the status of a refusal for a client that gets errors in a shape. */
export function getRefusalStatus(code: RefusalCode, shape: Api): number {
  const { status } = REFUSALS[code];
  return typeof status === "number" ? status : status[shape];
}

/**
 * `error.type` of the Messages API by status (Anthropic API documentation, "Errors"), but for 400: Claude Code repeats one of any
 * other type five times.
 */
const MESSAGES_ERROR_TYPES: Record<number, string> = {
  400: "billing_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  405: "invalid_request_error",
  408: "invalid_request_error",
  413: "request_too_large",
  415: "invalid_request_error",
  429: "rate_limit_error",
  431: "invalid_request_error",
  426: "invalid_request_error",
  505: "invalid_request_error",
};

/** `error.status` of Google's APIs by status (https://google.aip.dev/193, and the mapping of google/rpc/code.proto). */
const GOOGLE_STATUSES: Record<number, string> = {
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

/** The exceptions of Amazon Bedrock by status (its API reference, "Common Errors"). SDKs repeat a request by them. */
const BEDROCK_EXCEPTIONS: Record<number, string> = {
  403: "AccessDeniedException",
  404: "ResourceNotFoundException",
  408: "ModelTimeoutException",
  429: "ThrottlingException",
  503: "ServiceUnavailableException",
};

/** A longer path would hide the command behind it. */
const MAX_OPTION = 100;

/**
 * Returns what the commands of refusals say of the configuration file with which the daemon was started; null for the usual one. "" where
 * the path is too long, or where a tool would take it as a reason to try again.
 */
export function configOptionOf(file: string | null): string {
  const option = file === null ? "" : formatCommand(["--config", file]);
  return option.length > MAX_OPTION || provokesRetry(option) ? "" : option;
}

/**
 * Renders a refusal as an HTTP response in the error shape of an API (Responses and Chat Completions share one), with a flat header list and
 * a JSON body. `configOption` is from {@link configOptionOf}.
 */
export function renderRefusal(
  refusal: Refusal,
  shape: Api,
  configOption = "",
): { status: number; headers: string[]; body: Buffer } {
  const status = getRefusalStatus(refusal.code, shape);
  const retry = REFUSALS[refusal.code].retry && refusal.mayBeDone !== true;
  const message = renderMessage(retry ? refusal : withoutRetryTriggers(refusal), configOption);
  const content = composeError(refusal.code, status, message, shape);
  const body = Buffer.from(JSON.stringify(content));
  const headers = Object.entries({
    "content-type": "application/json",
    "content-length": String(body.length),
    "x-tollkeeper-refusal": refusal.code,
    ...(retry ? {} : { "x-should-retry": "false" }),
  });
  return { status, headers: [...headers.flat(), ...INERT_HEADERS, ...(refusal.headers ?? [])], body };
}

function composeError(code: RefusalCode, status: number, message: string, shape: Api): object {
  switch (shape) {
    case "messages":
      return { type: "error", error: { type: MESSAGES_ERROR_TYPES[status] ?? "api_error", message } };
    case "gemini": {
      const usual = status < 500 ? "INVALID_ARGUMENT" : "INTERNAL";
      return { error: { code: status, message, status: GOOGLE_STATUSES[status] ?? usual } };
    }
    case "bedrock": {
      const usual = status < 500 ? "ValidationException" : "InternalServerException";
      return { __type: BEDROCK_EXCEPTIONS[status] ?? usual, message };
    }
    default: {
      const type = status < 500 ? "invalid_request_error" : "server_error";
      return { error: { message, type, code, param: null } };
    }
  }
}

/**
 * Renders a refusal as the event with which the Responses API reports an error on a WebSocket. Its status is 400 where a retry cannot help, and in
 * place of 429: at that one Codex shows the message and does not repeat the request (docs/websocket.md). An event has no `retry-after`. `lane` is "" for the one without a name.
 */
export function renderRefusalEvent(
  refusal: Refusal,
  lane: string,
  configOption = "",
): { status: number; text: string } {
  const { status: usual, body } = renderRefusal(refusal, "responses", configOption);
  const status = REFUSALS[refusal.code].retry && usual !== 429 ? usual : 400;
  const { error } = JSON.parse(body.toString()) as { error: object };
  const text = JSON.stringify({ type: "error", status, error, ...(lane !== "" && { stream_id: lane }) });
  return { status, text };
}

/** A Close has room for so many bytes of a reason (RFC 6455 section 5.5.1). */
const MOST_REASON_BYTES = 123;

/**
 * Renders a refusal as the Close with which Google's Live API reports an error: 1008, or 1013 where a retry can help. Its reason is ASCII, and as
 * much of the message as there is room for: what is wrong, and what to type (docs/websocket.md). `status` is that of its record.
 */
export function renderRefusalClose(
  refusal: Refusal,
  configOption = "",
): { status: number; code: 1008 | 1013; reason: string } {
  const retry = REFUSALS[refusal.code].retry;
  const { problem, command } = refusal;
  const { code } = refusal;
  const status = getRefusalStatus(code, "gemini");
  const whole = renderMessage(retry ? refusal : withoutRetryTriggers(refusal), configOption);
  const short = renderMessage({ code, problem, command }, configOption);
  const reason = [whole, short].find(({ length }) => length <= MOST_REASON_BYTES) ?? short;
  const ascii = reason.replaceAll(/[^\x20-\x7e]/g, "?");
  return { status, code: retry ? 1013 : 1008, reason: ascii.slice(0, MOST_REASON_BYTES) };
}

function withoutRetryTriggers({ reason, advice, ...refusal }: Refusal): Refusal {
  return { ...refusal, reason: withoutTriggers(reason), advice: withoutTriggers(advice) };
}

/** What happened, to what, why, and last the command, so that it can be copied to the end. */
function renderMessage({ problem, reason, advice, command }: Refusal, configOption: string): string {
  const what = problem.startsWith("tollkeeper ") ? problem : `tollkeeper: ${problem}`;
  const name = (text: string) =>
    configOption === "" ? text : writeOwnCommands(text, "tollkeeper", configOption);
  const sentences = [reason === undefined ? what : `${what}: ${reason}`, name(advice ?? "")].filter(Boolean);
  return `${sentences.map(toSentence).join(" ")} Type: ${name(command)}`;
}

function toSentence(text: string, at: number): string {
  const begun = at === 0 ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return begun.endsWith("?") ? begun : `${begun}.`;
}
