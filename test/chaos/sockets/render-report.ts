import type { SocketReport } from "./check-books.ts";

const SHOWN_FAULTS = 20;

/** Renders what the run showed, one fact a line, with the first faults. */
export function renderSocketReport(report: SocketReport): string[] {
  const { counts, owed, young, tokens, faults } = report;
  const happened = [...counts].map(([what, times]) => `${what} ${times}`).toSorted();
  return [
    `${report.messages} messages, ${report.answered} of them with their end at the client; ${report.records} records`,
    `happened: ${happened.join(", ")}`,
    `begun, and not ended at the client: ${owed.turns}, recorded ${owed.recorded} (usage final ${owed.final}); young at a kill: ${young.turns}, recorded ${young.recorded}`,
    `input tokens of what has ended: upstream ${tokens.upstream}, ledger ${tokens.ledger}`,
    `${faults.length} faults`,
    ...faults.slice(0, SHOWN_FAULTS),
  ];
}
