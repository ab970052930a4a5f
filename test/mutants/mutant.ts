import type { Edit } from "./locate.ts";

/** An edit of the source that removes one rule, so that the test of that rule must fail. */
export interface Mutant extends Edit {
  /** `A1` to `G3`, as in SECURITY.md; `budgets`, `prices`, `limits`, `connect`, `digest` or `page` for rules that its table does not have. */
  row: string;
  /** The rule that is removed, in a few words. */
  without: string;
  /** The test file that must fail, from the project's root. */
  test: string;
  /** The source file, from the project's root. */
  file: string;
  /** The code to replace. Whole tokens are found even after a rename, a part of a literal only by its exact text. */
  find: string;
  /** The new code. Names that it shares with `find` are renamed along with them. */
  replace: string;
}
