import type { TestContext } from "node:test";
import type { Machine } from "../../../helpers/daemon/machine.ts";

/** A machine on which something is wrong, and what `doctor` must report. */
export interface Problem {
  name: string;
  /** Why it cannot be set up here. */
  skip?: string | false;
  /** Resolves with null when it cannot be set up, which skips the test. */
  build(t: TestContext): Promise<Machine | null>;
  /** Every warning and failure with its fix, in order, as `Machine.named` writes them. */
  finds: [finding: string, fix: string][];
}
