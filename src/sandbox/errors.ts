import type { JsonObject } from "./json.ts";

/** The two API families that the service speaks; `/models` answers as the second. */
export type Dialect = "messages" | "responses";

/** Statuses after which the service asks for another try. */
const RETRIED_STATUSES: readonly number[] = [429, 503, 529];
const RETRY_AFTER_SECONDS = 1;

/** Error types of the Messages API by status (Anthropic's documentation, "Errors"). */
const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

interface ErrorDetails {
  /** OpenAI's machine-readable reason, e.g. `model_not_found`. */
  code?: string;
  /** OpenAI's name of the request's field at fault. */
  param?: string;
  headers?: Readonly<Record<string, string>>;
}

/** An answer with an error status, before it has the shape of either API. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly param: string | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, details: ErrorDetails = {}) {
    super(message);
    this.status = status;
    this.code = details.code ?? null;
    this.param = details.param ?? null;
    this.headers = {
      ...(RETRIED_STATUSES.includes(status) && { "retry-after": String(RETRY_AFTER_SECONDS) }),
      ...details.headers,
    };
  }
}

/** The error type that the Messages API gives with `status`. */
export function messagesErrorType(status: number): string {
  return MESSAGES_TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
}

/** The error's body in the shape of its API, fields in the recorded order. */
export function errorBody(dialect: Dialect, error: ApiError, requestId: string): JsonObject {
  const { status, message, param, code } = error;
  if (dialect === "messages") {
    return { type: "error", error: { type: messagesErrorType(status), message }, request_id: requestId };
  }
  return { error: { message, type: responsesErrorType(status), param, code } };
}

function responsesErrorType(status: number): string {
  if (status === 429) return "rate_limit_exceeded";
  return status < 500 ? "invalid_request_error" : "server_error";
}
