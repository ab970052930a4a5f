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
