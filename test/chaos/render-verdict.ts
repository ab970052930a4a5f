import type { Books } from "./books.ts";
import type { Figures } from "./figures.ts";
import { NONCE } from "./searcher.ts";
import type { Check } from "./verdict.ts";

/** Of each rule that does not hold so many faults are shown, and of the requests concerned all that is known. */
const SHOWN_FAULTS = 5;

/** The verdict as people read it: a table, then the traces of what went wrong. */
export function renderVerdict(checks: readonly Check[], books: Books, figures: Figures): string[] {
  const { sent } = books;
  const rate = Math.round(sent.size / figures.seconds);
  const widest = Math.max(...checks.map(({ rule }) => rule.length));
  const shown = checks.flatMap(({ faults }) => faults.slice(0, SHOWN_FAULTS));
  return [
    `${sent.size} requests in ${figures.seconds.toFixed(1)} s, ${rate} per second`,
    ...checks.map(({ rule, figure, faults }) => {
      const mark = faults.length === 0 ? "ok  " : "FAIL";
      return `${mark}  ${rule.padEnd(widest)}  ${figure}${faults.length === 0 ? "" : `; ${faults.length} faults`}`;
    }),
    ...shown.flatMap((fault) => explain(fault, books)),
    ...(shown.length === 0 ? [] : ["", "the daemon:", ...books.trace("daemon").map(indent)]),
  ];
}

function explain(fault: string, books: Books): string[] {
  const names = [...new Set(fault.match(NONCE) ?? [])];
  return ["", fault, ...names.flatMap((name) => ["", ...[name, ...books.trace(name)].map(indent)])];
}

function indent(line: string): string {
  return `  ${line}`;
}
