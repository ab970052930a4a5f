import { basename } from "node:path";
import { isInterpreter } from "../../core/identity/process-kinds.ts";
import { isLastParent, nameProcess, type ProcessName } from "../../core/identity/process-name.ts";
import { findProcessSignature, type ProcessSignature, type Program } from "../../core/identity/signatures.ts";
import { findScript } from "../../core/identity/find-script.ts";
import type { ProcessRecord } from "../../core/ledger/record.ts";
import type { PeerProcess } from "../../ports.ts";
import { readArguments, readExecutable, readStat } from "./process-files.ts";

/** How many parents are looked at. Few chains are half as long. */
export const MAX_PARENTS = 15;

/** A process that has been described. */
export interface DescribedProcess {
  /** Its name may be missing before `named` resolves. */
  found: PeerProcess;
  /** Resolves once the arguments of interpreters have been read and `found` has its name. Never rejects. */
  named: Promise<void>;
}

/** A process, and its program as far as it is known without its arguments. */
interface Link {
  pid: number;
  executable: string;
  /** The name that the kernel has for it: a script's that was executed by its path, or a title that it gave itself. */
  title: string;
}

/** Describes a process by itself and its parents; null when it has ended, or hides its executable from this user. */
export function describeProcess(
  pid: number,
  signatures: readonly ProcessSignature[],
): DescribedProcess | null {
  const chain = chainOf(pid, signatures);
  const record = toProcessRecord(
    pid,
    chain.map(({ executable }) => executable),
  );
  if (record === null) return null;
  const found: PeerProcess = { record, name: nameAtOnce(chain, signatures) };
  return { found, named: found.name === null ? giveName(found, chain, signatures) : Promise.resolve() };
}

/** Returns what a record says of a process and its parents, nearest first, given by their executables; null for none. */
export function toProcessRecord(
  pid: number,
  [executable, ...parents]: readonly string[],
): ProcessRecord | null {
  if (executable === undefined) return null;
  return { pid, executable, parents: parents.map((path) => basename(path)) };
}

/** Follows the parents up to the last one that can contribute to the name. */
function chainOf(pid: number, signatures: readonly ProcessSignature[]): Link[] {
  const own = readExecutable(pid);
  if (own === null) return [];
  const chain: Link[] = [];
  for (let next = pid; next > 0 && chain.length <= MAX_PARENTS;) {
    const stat = readStat(next);
    if (stat === null) break;
    // Another user's process, such as sshd, only shows its name.
    const executable = next === pid ? own : (readExecutable(next) ?? stat.name);
    chain.push({ pid: next, executable, title: stat.name });
    if (isLastParent({ executable, script: null }, signatures)) break;
    next = stat.parent;
  }
  return chain;
}

/** Returns the name if no argument can change it: when no script that is still unknown comes before the nearest tool. */
function nameAtOnce(chain: readonly Link[], signatures: readonly ProcessSignature[]): ProcessName | null {
  const programs: Program[] = [];
  for (const { executable, title } of chain) {
    const isScript = isInterpreter(executable);
    const program = { executable, script: isScript ? { kind: "title" as const, text: title } : null };
    programs.push(program);
    if (findProcessSignature(signatures, program) !== undefined) break;
    if (isScript) return null;
  }
  return nameProcess(programs, signatures);
}

async function giveName(
  found: PeerProcess,
  chain: readonly Link[],
  signatures: readonly ProcessSignature[],
): Promise<void> {
  const programs: Program[] = [];
  for (const { pid, executable } of chain) {
    const argv = isInterpreter(executable) ? await readArguments(pid) : null;
    programs.push({ executable, script: argv === null ? null : findScript(argv) });
  }
  found.name = nameProcess(programs, signatures);
}
