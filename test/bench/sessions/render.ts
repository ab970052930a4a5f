import { median } from "../../helpers/process/process-metrics.ts";
import { markdownTable } from "../table.ts";
import type { SessionResult, SessionsResult } from "./sessions.ts";

/** Renders both tables: medians of all rounds, and the least and greatest ratio within a round in brackets. */
export function renderSessions({ real, replayed, load }: SessionsResult): string[] {
  return [
    "",
    "sessions: ten responses, from the start of the tool to its end, in seconds; the service has the pace of a fast model",
    "",
    ...renderTable(real, 2),
    "",
    "the same sessions without their tool; the service responds at once",
    "",
    ...renderTable(replayed, 3),
    "",
    `On average ${load.map((one) => one.toFixed(0)).join(" and ")} processes wanted a processor.`,
  ];
}

function renderTable(results: readonly SessionResult[], digits: number): string[] {
  const nodes = [...new Set(results.flatMap(({ through }) => through.map(({ node }) => node)))];
  const heads = nodes.flatMap((node) => [`tollkeeper on Node ${node}`, "added ms", "times direct"]);
  const rows = results.map(({ kind, roundTripMs, direct, through }) => [
    `${kind}, ${roundTripMs} ms`,
    median(direct).toFixed(digits),
    ...through.flatMap(({ seconds, addedMs, ratio }) => {
      const ratios = seconds.map((one, round) => one / (direct[round] ?? Number.NaN));
      const spread = `${Math.min(...ratios).toFixed(3)}–${Math.max(...ratios).toFixed(3)}`;
      return [median(seconds).toFixed(digits), addedMs.toFixed(0), `${ratio.toFixed(3)} (${spread})`];
    }),
  ]);
  return markdownTable(["session, round trip", "direct", ...heads], rows);
}
