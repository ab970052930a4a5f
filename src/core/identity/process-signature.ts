import { toProgramName } from "./process-kinds.ts";

/** The program that a process runs. */
export interface Program {
  /** Path of the executable; its name alone where the path is not visible. */
  executable: string;
  /** What an interpreter runs: a script's path, a module, or the title it gave itself. null for other programs. */
  script: string | null;
}

/**
 * One row of evidence: a process is the tool's when one of `names`, or `path`, matches its executable or its script.
 */
export interface ProcessSignature {
  tool: string;
  /** An editor names the processes it starts itself, but not those started from a shell in its terminal. */
  isEditor?: true;
  /** Base names in lower case, without `.exe`. */
  names?: readonly string[];
  /** Matches the whole path. */
  path?: RegExp;
  /** Where the row can be checked. */
  source: string;
  /** Day on which it was looked up, `YYYY-MM-DD`. */
  date: string;
}

/** Returns the first signature that matches the program; undefined when none does. */
export function findProcessSignature(
  signatures: readonly ProcessSignature[],
  { executable, script }: Program,
): ProcessSignature | undefined {
  const paths = script === null ? [executable] : [executable, script];
  const programNames = paths.map(toProgramName);
  return signatures.find(
    ({ names, path }) =>
      programNames.some((name) => names?.includes(name)) || paths.some((candidate) => path?.test(candidate)),
  );
}
