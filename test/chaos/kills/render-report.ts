import type { KillReport } from "./check-books.ts";

const SHOWN_FAULTS = 20;

/** Renders what the kills showed, one fact a line, with the first faults. */
export function renderKillReport(report: KillReport): string[] {
  const { owed, young, tokens, faults } = report;
  return [
    `${report.kills} kills; ${report.requests} requests, ${report.answered} answered in full`,
    `under way for more than a second at a kill: ${owed.requests}, recorded ${owed.recorded} (usage final ${owed.final}, partial ${owed.partial}, absent ${owed.absent})`,
    `under way for less: ${young.requests}, recorded ${young.recorded}; the oldest without a record was ${report.oldestUnrecordedMs} ms old`,
    `made of notes: ${report.recovered} records; lines that a kill tore: ${report.torn}`,
    `input tokens where the daemon had seen them: upstream ${tokens.upstream}, ledger ${tokens.ledger}`,
    `${faults.length} faults`,
    ...faults.slice(0, SHOWN_FAULTS),
  ];
}
