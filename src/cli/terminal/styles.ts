/** How a line or a word stands out, by what it is about. */
export type Tone = "plain" | "faint" | "strong" | "running" | "warning" | "failure";

/** SGR parameters (ECMA-48 section 8.3.117). */
const CODES: Record<Exclude<Tone, "plain">, number> = {
  faint: 2,
  strong: 1,
  running: 36,
  warning: 33,
  failure: 31,
};

/** Colours a text. Returns it as it is where there are no colours. */
export function inTone(text: string, tone: Tone, isColoured: boolean): string {
  return tone === "plain" || text === "" || !isColoured ? text : `\u001b[${CODES[tone]}m${text}\u001b[0m`;
}
