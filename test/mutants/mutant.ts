import type { Edit } from "./locate.ts";

/** A rule of the threat table taken away: one edit of the source after which the row's test must fail. */
export interface Mutant extends Edit {
  /** `A1` to `E6`, as in SECURITY.md. */
  row: string;
  /** What is taken away, in a few words. */
  without: string;
  /** The test file that must notice, from the project's root. */
  test: string;
  /** The source file, from the project's root. */
  file: string;
  /** The code that is taken away, as `locate` finds it. Whole tokens survive a rename, parts of a literal do not have to. */
  find: string;
  /** Stands in its place, with the names of `find`. */
  replace: string;
}
