import type { JsonObject } from "../core/json.ts";

/** The APIs that the sandbox implements. `/models` belongs to the second. */
export type ApiFamily = "messages" | "responses";

/** Statuses whose responses carry `retry-after`, of one second. */
const RETRYABLE_STATUSES: readonly number[] = [429, 503, 529];

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

/** An error response, independent of the API. */
export class ApiError extends Error {
  readonly status: number;
  /** Machine-readable reason in the Responses API, e.g. `model_not_found`. */
  readonly code: string | null;
  /** Name of the invalid request field in the Responses API. */
  readonly param: string | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    { code = null, param = null, headers = {} }: Partial<Pick<ApiError, "code" | "param" | "headers">> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
    this.headers = { ...(RETRYABLE_STATUSES.includes(status) && { "retry-after": "1" }), ...headers };
  }
}

/** Returns the error type that the Messages API uses with `status`. */
export function messagesErrorType(status: number): string {
  return MESSAGES_TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
}

/** Returns the error's body in the shape of its API, with the fields in the order of recorded responses. */
export function errorBody(api: ApiFamily, error: ApiError, requestId: string): JsonObject {
  const { status, message, param, code } = error;
  if (api === "messages") {
    return { type: "error", error: { type: messagesErrorType(status), message }, request_id: requestId };
  }
  return { error: { message, type: responsesErrorType(status), param, code } };
}

function responsesErrorType(status: number): string {
  if (status === 429) return "rate_limit_exceeded";
  return status < 500 ? "invalid_request_error" : "server_error";
}
