import type { TestContext } from "node:test";
import type { SetUp } from "../../../helpers/daemon/doctor.ts";

/** A set-up in which something is broken on purpose, and what `doctor` is to say to it. */
export interface BrokenSetUp {
  name: string;
  /** Why it cannot be built here. */
  skip?: string | false;
  /** null when it turns out that it cannot be built; the test is skipped then. */
  build(t: TestContext): Promise<SetUp | null>;
  /** Every warning and failure, in order and in full, as `SetUp.named` names what differs: what it is, then what mends it. */
  finds: [string, string][];
}
