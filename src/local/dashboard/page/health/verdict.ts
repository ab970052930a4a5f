import type { Status } from "../feed-types.ts";
import { formatCount } from "../numbers.ts";

type Upstream = Status["upstreams"][number];

/** What is wrong, in few words: `codex is refused until 6:00 PM`. A `warning` needs attention only. */
export interface Finding {
  tone: "failure" | "warning";
  text: string;
}

/** As many as a headline names. */
const MOST_NAMED = 3;

/**
 * Says in a few sentences whether all is well: what is wrong by its name, what else needs attention, and what is not known.
 * @param findings - of all that was looked at; the same text counts once
 */
export function verdictOf(findings: readonly Finding[], upstreams: readonly Upstream[]): string {
  const textsOf = (tone: Finding["tone"]) => [
    ...new Set(findings.flatMap((one) => (one.tone === tone ? [one.text] : []))),
  ];
  const [wrong, open] = [textsOf("failure"), textsOf("warning")];
  const unused = upstreams.filter(isUnused).length;
  if (wrong.length + open.length + unused === 0) return "Everything works.";
  const said = [
    ...nameAll(wrong, `${formatCount(wrong.length)} problems`),
    ...(wrong.length === 0
      ? nameAll(open, `${formatCount(open.length)} need attention`)
      : countMore(open.length)),
  ];
  const rest = unused === 0 ? "The rest works." : describeUnused(unused, upstreams.length);
  return `${said.join(". ") || "No problem found"}. ${rest}`;
}

/** The only one alone, and several behind their number. */
function nameAll(texts: readonly string[], count: string): string[] {
  if (texts.length < 2) return [...texts];
  const rest = texts.length - MOST_NAMED;
  const named = texts.slice(0, MOST_NAMED);
  return [`${count}: ${[...named, ...(rest > 0 ? [`${formatCount(rest)} more`] : [])].join("; ")}`];
}

/** What needs attention gives way to what is wrong. */
function countMore(count: number): string[] {
  return count === 0 ? [] : [`${formatCount(count)} more ${count === 1 ? "needs" : "need"} attention`];
}

/** Of upstreams without a request, nothing is known. */
function describeUnused(unused: number, all: number): string {
  if (unused === all) return "No upstream was contacted yet.";
  return `${formatCount(unused)} of ${formatCount(all)} upstreams ${unused === 1 ? "was" : "were"} not contacted yet.`;
}

/** Whether no request has shown yet if it works. */
export function isUnused({
  worked_at: worked,
  last_exchange: last,
  is_sandbox: isSandbox,
}: Upstream): boolean {
  return worked === null && last === null && !isSandbox;
}
