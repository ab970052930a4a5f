import { foreignCharset } from "../http/charset.ts";
import type { HeaderIndex } from "../http/header-index.ts";
import { listQueryNames } from "../http/upstream-query.ts";
import { tooLarge } from "../refusals/limits.ts";
import { FORM } from "../refusals/models.ts";
import type { Refusal } from "../refusals/refusal.ts";
import { toPrintable } from "../text/printable.ts";
import type { ApiRequest } from "./resolve-route.ts";
import type { Settings } from "./settings.ts";

/** Says why the body is not all that tells the model; null if it is. */
export function findFault(headers: HeaderIndex, request: ApiRequest): string | null {
  return findUnreadable(headers, request) ?? findModelInQuery(request.query);
}

/**
 * Returns how a body is compressed of which a decoded copy tells the model; null for any other. No reader can take the first bytes of these
 * for JSON. "deflate" is two formats, and Brotli can begin like JSON.
 */
export function findDecodable(headers: HeaderIndex): "zstd" | "gzip" | null {
  const encoding = headers.get("content-encoding");
  return encoding === "zstd" || encoding === "gzip" ? encoding : null;
}

/** Says why the decoded copy of a body is not all that tells the model; null if it is. */
export function findFaultOfCopy(headers: HeaderIndex, request: ApiRequest): string | null {
  return findModelInQuery(request.query) ?? findUnreadableText(headers, request);
}

/** Says why a body cannot be read; null if it may be. */
export function findUnreadable(headers: HeaderIndex, request: ApiRequest): string | null {
  const encoding = headers.get("content-encoding") ?? "identity";
  const isCompressed = !request.isForm && encoding !== "identity";
  if (isCompressed) return `the body is compressed (${toPrintable(encoding)})`;
  return findUnreadableText(headers, request);
}

/** The same, apart from any compression. */
function findUnreadableText(headers: HeaderIndex, { isForm }: ApiRequest): string | null {
  if (isForm) return FORM;
  const charset = foreignCharset(headers.get("content-type") ?? "");
  return charset === null ? null : `the body is not UTF-8 (${toPrintable(charset)})`;
}

/** As `FURTHER_MODELS` in `model-reader.ts`, and lists and members of these: `models[]`, `extra_body[model]`, `model.name`. */
const MODEL_IN_QUERY = /^(?:models?|(?:\w+_)?fallbacks|extra_body)(?:[[.].*)?$/is;

/** Some services, LiteLLM among them, read the model from the query too. Says why the body is not all; null if it is. */
function findModelInQuery(query: string): string | null {
  if (query === "") return null;
  const names = listQueryNames(query).map((name) => name.replaceAll(/[^\x21-\x7e]/g, ""));
  return names.some((name) => MODEL_IN_QUERY.test(name)) ? "the query names a model, too" : null;
}

/** Returns the refusal of a body that announces too many bytes. */
export function checkLength(headers: HeaderIndex, { limits: { bodyBytes } }: Settings): Refusal | null {
  const bytes = announcedBytes(headers);
  return bytes !== null && bytes > bodyBytes ? tooLarge(bodyBytes) : null;
}

/** The announced length of a body; null for a chunked one. */
export function announcedBytes(headers: HeaderIndex): number | null {
  const length = headers.get("content-length");
  if (length === undefined) return headers.has("transfer-encoding") ? null : 0;
  return Number(length);
}
