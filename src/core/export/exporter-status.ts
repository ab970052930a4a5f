import { isObject, parseJson } from "../json.ts";

/** Since when and why nothing is accepted. */
export interface ExportProblem {
  /** ISO 8601, UTC. */
  since: string;
  reason: string;
  hint: string | null;
}

/** Counts of records since the first was sent, by result. */
export interface ExportCounts {
  /** Accepted by the receiver. */
  sent: number;
  /** Rejected by the receiver, which accepted others of the same batch. */
  rejected: number;
  /** Not accepted even alone, and therefore skipped. */
  skipped: number;
  /** Lines of the ledger that are no records. */
  unreadable: number;
}

/** How an exporter is doing. It prints this as a line of JSON whenever it changes. */
export interface ExporterStatus {
  counts: ExportCounts;
  /** When the receiver last accepted something; ISO 8601, UTC. */
  lastAcceptedAt: string | null;
  problem: ExportProblem | null;
  /** The receiver's message about data that it rejected. */
  rejection: string | null;
}

/** Parses a line that an exporter printed; null for anything else. */
export function parseExporterStatus(line: string): ExporterStatus | null {
  const value = parseJson(line);
  return isObject(value) && isObject(value["counts"]) && "problem" in value
    ? (value as unknown as ExporterStatus)
    : null;
}
