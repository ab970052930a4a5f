import type { HeaderIndex } from "../http/header-index.ts";
import { toProgramName } from "./process-kinds.ts";

/** Where a signature can be checked. */
export interface Evidence {
  /** What it was recorded from, or where it can be read. */
  source: string;
  /** Day on which it was recorded or read, `YYYY-MM-DD`. */
  date: string;
}

/** A request is the tool's when all patterns of `when` match and no header of `without` is present. */
export interface RequestSignature extends Evidence {
  tool: string;
  when: readonly (readonly [header: string, pattern: RegExp])[];
  without: readonly string[];
}

/** Matches every value: the header only has to be present. */
export const PRESENT = /^/;

/** The signatures of everything that is known, each list in the order in which it is tried: the first match counts. */
export interface RequestSignatures {
  tools: readonly RequestSignature[];
  /** These name only the library that an otherwise unknown program is written with. */
  libraries: readonly RequestSignature[];
}

/** Returns the first signature that matches the headers; undefined when none does. */
export function findRequestSignature(
  signatures: readonly RequestSignature[],
  headers: HeaderIndex,
): RequestSignature | undefined {
  // A loop, because every request passes here: a callback would be allocated for each.
  for (const signature of signatures) if (isMatch(signature, headers)) return signature;
  return undefined;
}

function isMatch({ when, without }: RequestSignature, headers: HeaderIndex): boolean {
  for (const [name, pattern] of when) {
    const value = headers.get(name);
    if (value === undefined || !pattern.test(value)) return false;
  }
  for (const name of without) if (headers.has(name)) return false;
  return true;
}

/** What an interpreter runs: a script's path, the name of a module, or the title that the process gave itself. */
export interface Script {
  kind: "file" | "module" | "title";
  text: string;
}

/** The program that a process runs. */
export interface Program {
  /** Path of the executable; its name alone where the path is not visible. */
  executable: string;
  /** null for programs that are not interpreters, and when unknown. */
  script: Script | null;
}

/** A process is the tool's when one of `names`, or `path`, matches its executable or its script. */
export interface ProcessSignature extends Evidence {
  tool: string;
  /** An editor names the processes it starts itself, but not those started from a shell in its terminal. */
  isEditor?: true;
  /** Base names in lower case, without `.exe`. */
  names?: readonly string[];
  /** Matches the whole path. */
  path?: RegExp;
}

/** Returns the first signature that matches the program; undefined when none does. */
export function findProcessSignature(
  signatures: readonly ProcessSignature[],
  { executable, script }: Program,
): ProcessSignature | undefined {
  const paths = script === null ? [executable] : [executable, script.text];
  const programNames = paths.map(toProgramName);
  return signatures.find(
    ({ names, path }) =>
      programNames.some((name) => names?.includes(name)) || paths.some((candidate) => path?.test(candidate)),
  );
}
