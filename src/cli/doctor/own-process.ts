import { Failure } from "../../core/failure.ts";
import { hardenProcess } from "../../daemon/harden.ts";

/** May a process with these settings hold a key? */
export interface ProcessVerdict {
  /** Why not: the daemon would not start, and `doctor` reads no key. */
  refusal: Failure | null;
  warnings: string[];
}

/** Hardens this process as the daemon's is; what stops that here would stop the daemon, too. */
export function judgeProcess(): ProcessVerdict {
  try {
    return { refusal: null, warnings: hardenProcess() };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { refusal: error, warnings: [] };
  }
}
