import type { RequestScanner } from "../request-scanner.ts";
import { FilmScanner } from "./film-scanner.ts";

/** What is asked for a stream in a path of Google's or Bedrock's API. */
const STREAMING: ReadonlySet<string | null> = new Set([
  "streamGenerateContent",
  "streamRawPredict",
  "invoke-with-response-stream",
  "converse-stream",
]);

/** Returns what the record says of a request of Google's or Bedrock's API: its path has the model, and whether it streams. The body says neither. */
export function createPathScanner({
  model,
  action,
}: {
  model: string;
  action: string | null;
}): RequestScanner {
  if (action === "predictLongRunning") return new FilmScanner(model);
  return {
    model,
    stream: STREAMING.has(action),
    background: null,
    videoSeconds: null,
    readPrompt: null,
    feed,
  };
}

function feed(): void {}
