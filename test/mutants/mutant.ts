/** A rule of the threat table taken away: one edit of the source after which the row's test must fail. */
export interface Mutant {
  /** `A1` to `E6`, as in SECURITY.md. */
  row: string;
  /** What is taken away, in a few words. */
  without: string;
  /** The test file that must notice, from the project's root. */
  test: string;
  /** The source file, from the project's root. */
  file: string;
  /** Stands exactly once in the file. */
  find: string;
  replace: string;
}
