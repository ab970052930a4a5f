import { TOOLS } from "./all.ts";
import { LIBRARY_SIGNATURES } from "./libraries.ts";

const ANY_PROGRAM = `make it send "stream_options": { "include_usage": true }`;

/**
 * Returns what makes the usage of a tool's streams of Chat Completions known, as a sentence in the imperative without its
 * end: by the tool's name, else by the library that its User-Agent names. Sources are in docs/wire.md section 7.
 */
export function usageRemedy(tool: string, userAgent: string | null): string {
  const known = TOOLS.find(({ name }) => name === tool)?.usageRemedy;
  return known ?? libraryRemedy(userAgent ?? "") ?? ANY_PROGRAM;
}

function libraryRemedy(userAgent: string): string | undefined {
  const library = LIBRARY_SIGNATURES.find(({ when, usageRemedy: remedy }) => {
    const pattern = when["user-agent"];
    return remedy !== undefined && pattern instanceof RegExp && pattern.test(userAgent);
  });
  return library?.usageRemedy;
}
