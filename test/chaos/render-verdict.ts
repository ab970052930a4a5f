import type { Observations } from "./observations.ts";
import type { RunResults } from "./run-results.ts";
import { NONCE } from "./searcher.ts";
import type { Check } from "./verdict.ts";

/** The number of faults that are shown for each rule, with the traces of their requests. */
const SHOWN_FAULTS = 5;

/** Renders a table of all checks, and the traces of what went wrong. */
export function renderVerdict(
  checks: readonly Check[],
  observations: Observations,
  results: RunResults,
): string[] {
  const { sent } = observations;
  const rate = Math.round(sent.size / results.seconds);
  const widest = Math.max(...checks.map(({ rule }) => rule.length));
  const shown = checks.flatMap(({ faults }) => faults.slice(0, SHOWN_FAULTS));
  return [
    `${sent.size} requests in ${results.seconds.toFixed(1)} s, ${rate} per second`,
    ...checks.map(({ rule, figure, faults }) => {
      const mark = faults.length === 0 ? "ok  " : "FAIL";
      return `${mark}  ${rule.padEnd(widest)}  ${figure}${faults.length === 0 ? "" : `; ${faults.length} faults`}`;
    }),
    ...shown.flatMap((fault) => explain(fault, observations)),
    ...(shown.length === 0 ? [] : ["", "the daemon:", ...observations.trace("daemon").map(indent)]),
  ];
}

function explain(fault: string, observations: Observations): string[] {
  const names = [...new Set(fault.match(NONCE) ?? [])];
  return ["", fault, ...names.flatMap((name) => ["", ...[name, ...observations.trace(name)].map(indent)])];
}

function indent(line: string): string {
  return `  ${line}`;
}
