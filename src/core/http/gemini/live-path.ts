import { decodePercent } from "../../text/decode-percent.ts";
import { HeaderIndex } from "../header-index.ts";
import { GOOGLE_ROOT } from "./google-path.ts";

/** What records call Google's Live API: by the name that its list of models has for it, `bidiGenerateContent` (docs/wire.md section 12). */
export const LIVE_ROUTE = `${GOOGLE_ROOT}models/{id}:bidiGenerateContent`;

/**
 * The path of the Gemini API. `Constrained` is for a token that a key has made for a browser: the key itself belongs to the other one. SDKs put
 * a second slash before it, behind a base URL that ends with one.
 */
const LIVE =
  /^\/{1,2}(ws\/google\.ai\.generativelanguage\.v1(?:beta|alpha)?\.GenerativeService\.BidiGenerateContent)(?:Constrained)?$/;

/** That of Vertex. */
const VERTEX =
  /^\/{1,2}(ws\/google\.cloud\.aiplatform\.v1(?:beta1|alpha1)?\.LlmBidiService\/BidiGenerateContent)$/;

/** Returns the path to request for a raw path of the Live API, without query and tool mark; null for any other. */
export function readLivePath(path: string): string | null {
  const below = LIVE.exec(path)?.[1] ?? VERTEX.exec(path)?.[1];
  return below === undefined ? null : `/${below}`;
}

/** What a header can have. */
const KEY = /^[!-~]+$/;

/**
 * Returns the headers of a handshake with the key in its URL, where Google's SDK for JavaScript has it alone, as they have it on other routes: a
 * local token may be there, or the name of the tool. A key in a header stays.
 */
export function withKeyOfUrl(headers: HeaderIndex, query: string): HeaderIndex {
  const [key = "", ...others] = query
    .slice(1)
    .split("&")
    .flatMap((one) => (one.startsWith("key=") ? decodePercent(one.slice("key=".length)) : []));
  if (others.length > 0 || !KEY.test(key) || headers.has("x-goog-api-key")) return headers;
  const lines = headers.lines.flatMap(({ rawName, value }) => [rawName, value]);
  return new HeaderIndex([...lines, "x-goog-api-key", key]);
}
