import { estimateTokens } from "../usage/estimate-tokens.ts";

/** What a picture costs at most: 4,784 tokens at Anthropic, 2,500 at OpenAI unless in its original size (docs/budgets.md). */
const PICTURE_TOKENS = 5_000;
/** A page of a PDF is up to 3,000 tokens, and seldom less than 20 KB of base64. */
const PDF_BYTES_PER_TOKEN = 7;
/** A second of sound is 10 to 32 tokens, and at least 1 KB of base64. */
const SOUND_BYTES_PER_TOKEN = 30;

type Medium = "picture" | "pdf" | "sound";

const DATA_URL = /^data:([\w.+/-]*)[^,]*;base64,/i;

/** How files begin in base64: PNG, JPEG, GIF, BMP, HEIC and AVIF; PDF; MP3, Ogg, FLAC, MP4. RIFF is told by what follows. */
const STARTS: readonly (readonly [RegExp, Medium])[] = [
  [/^(?:iVBORw0KGg|\/9j\/|R0lGOD|Qk[0-3]|AAAA.[GWm2]Z0eXB(?:oZWl|hdml))/, "picture"],
  [/^UklGR.{6}XRUJQ/, "picture"],
  [/^JVBERi0/, "pdf"],
  [/^(?:SUQz|\/\/[E-Pk-v]|T2dnU|ZkxhQ|AAAA.[GWm2]Z0eXB)/, "sound"],
  [/^UklGR.{6}XQVZF/, "sound"],
];

/**
 * Returns how many tokens a file in a request is at most, by its kind and its length in base64; null for what is no picture, PDF or
 * sound, which counts as text. `start` is how it begins: a data URL or base64.
 */
export function readMediaTokens(start: string, length: number): number | null {
  const medium = readMedium(start);
  if (medium === null) return null;
  if (medium === "picture") return Math.min(PICTURE_TOKENS, estimateTokens(length));
  return Math.ceil(length / (medium === "pdf" ? PDF_BYTES_PER_TOKEN : SOUND_BYTES_PER_TOKEN));
}

function readMedium(start: string): Medium | null {
  const url = DATA_URL.exec(start);
  const type = url?.[1]?.toLowerCase() ?? "";
  if (type.startsWith("image/")) return type === "image/svg+xml" ? null : "picture";
  if (type === "application/pdf") return "pdf";
  if (type.startsWith("audio/") || type.startsWith("video/")) return "sound";
  const base64 = url === null ? start : start.slice(url[0].length);
  return STARTS.find(([pattern]) => pattern.test(base64))?.[1] ?? null;
}
