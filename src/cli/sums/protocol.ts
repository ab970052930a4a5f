import type { EncodedDay } from "../../core/ledger/day-sums.ts";
import type { UnreadableLine } from "../../adapters/ledger-file.ts";

/** What a worker answers, when it is sent a day. */
export type WorkerReply =
  | { sums: EncodedDay; unreadable: readonly UnreadableLine[] }
  | { error: string; hint: string | undefined };
