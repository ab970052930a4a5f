import type { RequestScanner } from "../request-scanner.ts";

/** Returns what the record says of a request of Google's API: its path has the model, and whether it streams. The body says neither. */
export function createPathScanner({
  model,
  action,
}: {
  model: string;
  action: string | null;
}): RequestScanner {
  return {
    model,
    stream: action === "streamGenerateContent" || action === "streamRawPredict",
    background: null,
    prompt: null,
    feed,
  };
}

function feed(): void {}
