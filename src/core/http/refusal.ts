/** The API whose error shape a refusal has. */
export type Api = "messages" | "responses";

/** Every refusal with its status, and whether a retry can help: SDKs obey `x-should-retry` (docs/wire.md section 4). */
const REFUSALS = {
  host_not_allowed: { status: 403, retry: false },
  origin_not_allowed: { status: 403, retry: false },
  peer_not_allowed: { status: 403, retry: false },
  token_required: { status: 401, retry: false },
  bad_request: { status: 400, retry: false },
  http_version: { status: 505, retry: false },
  not_found: { status: 404, retry: false },
  method_not_allowed: { status: 405, retry: false },
  content_type: { status: 415, retry: false },
  body_timeout: { status: 408, retry: true },
  body_too_large: { status: 413, retry: false },
  upgrade_not_supported: { status: 426, retry: false },
  key_missing: { status: 503, retry: false },
  key_locked: { status: 503, retry: false },
  key_unavailable: { status: 503, retry: false },
  upstream_unreachable: { status: 502, retry: true },
  upstream_broke: { status: 502, retry: true },
  upstream_invalid: { status: 502, retry: true },
  upstream_timeout: { status: 504, retry: true },
  loop_detected: { status: 508, retry: false },
  internal: { status: 500, retry: false },
} as const satisfies Record<string, { status: number; retry: boolean }>;

export type RefusalCode = keyof typeof REFUSALS;

/** An error response of our own. `message` says what is wrong and what to type next. */
export interface Refusal {
  code: RefusalCode;
  message: string;
  /** Flat list of the headers that the status requires. */
  headers?: readonly string[];
  /** True when the connection is closed after this response. */
  closesConnection?: boolean;
}

/** Thrown by a step of the request path to refuse the request. */
export class RefusalError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.name = "RefusalError";
    this.refusal = refusal;
  }
}

export function getRefusalStatus(code: RefusalCode): number {
  return REFUSALS[code].status;
}

/** `error.type` of the Messages API by status (Anthropic API documentation, "Errors"). */
const MESSAGES_ERROR_TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  405: "invalid_request_error",
  408: "invalid_request_error",
  413: "request_too_large",
  415: "invalid_request_error",
  426: "invalid_request_error",
  505: "invalid_request_error",
};

/** Renders a refusal as an HTTP response in the error shape of `api`, with a flat header list and a JSON body. */
export function renderRefusal(
  refusal: Refusal,
  api: Api,
): { status: number; headers: string[]; body: Buffer } {
  const { status, retry } = REFUSALS[refusal.code];
  const message = `tollkeeper: ${refusal.message}`;
  const responsesType = status < 500 ? "invalid_request_error" : "server_error";
  const content =
    api === "messages"
      ? { type: "error", error: { type: MESSAGES_ERROR_TYPES[status] ?? "api_error", message } }
      : { error: { message, type: responsesType, code: refusal.code, param: null } };
  const body = Buffer.from(JSON.stringify(content));
  const headers = Object.entries({
    "content-type": "application/json",
    "content-length": String(body.length),
    "x-content-type-options": "nosniff",
    "x-tollkeeper-refusal": refusal.code,
    ...(retry ? {} : { "x-should-retry": "false" }),
  });
  return { status, headers: [...headers.flat(), ...(refusal.headers ?? [])], body };
}
