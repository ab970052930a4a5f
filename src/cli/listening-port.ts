import type { DaemonStatus } from "./commands/status/report.ts";

/** The port of a running daemon, the same on each of its addresses. */
export function portOf({ listening }: DaemonStatus): number {
  return Number(/:(\d+)$/.exec(listening[0] ?? "")?.[1]);
}
