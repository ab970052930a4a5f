import type { EncodedDay } from "../../core/ledger/day-sums.ts";
import type { Rollup } from "../../core/ledger/rollup.ts";
import type { SkippedLines } from "../ledger/records-of-period.ts";

/** What a worker answers, when it is sent a day. */
export type WorkerReply =
  | { rollup: Rollup }
  | { details: Uint8Array }
  | { sums: EncodedDay; skipped: SkippedLines }
  | { error: string; hint: string | undefined };
