import type { JsonObject } from "../core/json.ts";

/** The services whose errors, headers and lists of models the sandbox imitates. */
export type Vendor = "anthropic" | "openai" | "openrouter" | "ollama" | "google" | "bedrock";

/** Statuses whose responses carry `retry-after`, of one second unless a switch says otherwise. */
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

/** `error.status` of Google's APIs by status (https://google.aip.dev/193). */
const GOOGLE_STATUSES: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

/** AWS's names of errors at Amazon Bedrock by status (docs/wire.md section 14). */
const BEDROCK_TYPES: Readonly<Record<number, string>> = {
  403: "AccessDeniedException",
  404: "UnknownOperationException",
  408: "ModelTimeoutException",
  429: "ThrottlingException",
  503: "ServiceUnavailableException",
};

/** Returns the name that Amazon Bedrock gives an error with `status`. */
export function bedrockErrorType(status: number): string {
  return BEDROCK_TYPES[status] ?? (status < 500 ? "ValidationException" : "InternalServerException");
}

/** An error response, independent of the vendor. */
export class ApiError extends Error {
  readonly status: number;
  /** Machine-readable reason in OpenAI's APIs, e.g. `model_not_found`. */
  readonly code: string | null;
  /** Name of the invalid request field in OpenAI's APIs. */
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

/** The error for a request of one of OpenAI's APIs that lacks a field. */
export function missingParameter(param: string): ApiError {
  const message = `Missing required parameter: '${param}'.`;
  return new ApiError(400, message, { code: "missing_required_parameter", param });
}

/** Returns the error type that the Messages API uses with `status`. */
export function messagesErrorType(status: number): string {
  return MESSAGES_TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
}

/** Returns the error's body in the shape of its vendor, with the fields in the order of recorded responses. */
export function errorBody(vendor: Vendor, error: ApiError, requestId: string): JsonObject {
  const { status, message, param, code } = error;
  switch (vendor) {
    case "anthropic":
      return { type: "error", error: { type: messagesErrorType(status), message }, request_id: requestId };
    case "openai":
      return { error: { message, type: openaiErrorType(status), param, code } };
    case "openrouter":
      return { error: { message, code: status } };
    case "google": {
      const details = code === null ? {} : { details: [{ reason: code, domain: "googleapis.com" }] };
      return { error: { code: status, message, status: GOOGLE_STATUSES[status] ?? "UNKNOWN", ...details } };
    }
    case "bedrock":
      return { message };
    case "ollama":
      return { error: { message, type: ollamaErrorType(status), param: null, code: null } };
  }
}

function openaiErrorType(status: number): string {
  if (status === 429) return "rate_limit_exceeded";
  return status < 500 ? "invalid_request_error" : "server_error";
}

function ollamaErrorType(status: number): string {
  if (status === 404) return "not_found_error";
  return status === 400 ? "invalid_request_error" : "api_error";
}
