import { isObject, parseJson } from "../json.ts";

/** Since when and why nothing is accepted. */
export interface ExportProblem {
  /** ISO 8601, UTC. */
  since: string;
  reason: string;
  hint: string | null;
}

/** What has become of records, since the first was sent. */
export interface ExportCounts {
  /** Accepted by the receiver. */
  sent: number;
  /** Left out by the receiver, which accepted others with them. */
  rejected: number;
  /** Not accepted alone either, and therefore passed over. */
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
  /** What the receiver said of data that it rejected. */
  rejection: string | null;
}

/** Parses a line that an exporter printed; null for anything else. */
export function parseExporterStatus(line: string): ExporterStatus | null {
  const value = parseJson(line);
  return isObject(value) && isObject(value["counts"]) && "problem" in value
    ? (value as unknown as ExporterStatus)
    : null;
}
