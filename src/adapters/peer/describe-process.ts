import { basename } from "node:path";
import { isInterpreter } from "../../core/identity/process-kinds.ts";
import { isLastParent, nameProcess } from "../../core/identity/process-name.ts";
import type { ProcessSignature, Program } from "../../core/identity/signatures.ts";
import { findScript } from "../../core/identity/find-script.ts";
import type { PeerProcess } from "../../ports.ts";
import { readArguments, readExecutable, readStat } from "./process-files.ts";

/** How many parents are looked at. Few chains are half as long. */
export const MAX_PARENTS = 15;

/** Describes a process by itself and its parents; null when it has ended, or hides its executable from this user. */
export async function describeProcess(
  pid: number,
  signatures: readonly ProcessSignature[],
): Promise<PeerProcess | null> {
  const own = readExecutable(pid);
  if (own === null) return null;
  const programs: Program[] = [];
  for (let next = pid; next > 0 && programs.length <= MAX_PARENTS;) {
    const stat = readStat(next);
    if (stat === null) break;
    // Another user's process, such as sshd, only shows its name.
    const executable = next === pid ? own : (readExecutable(next) ?? stat.name);
    const program = await programOf(next, executable);
    programs.push(program);
    if (isLastParent(program, signatures)) break;
    next = stat.parent;
  }
  return toPeerProcess(pid, programs, signatures);
}

/** Converts a process, first in `programs`, and its parents, nearest first, to a port's type; null for an empty list. */
export function toPeerProcess(
  pid: number,
  programs: readonly Program[],
  signatures: readonly ProcessSignature[],
): PeerProcess | null {
  const [itself, ...parents] = programs;
  if (itself === undefined) return null;
  return {
    record: {
      pid,
      executable: itself.executable,
      parents: parents.map(({ executable }) => basename(executable)),
    },
    name: nameProcess(programs, signatures),
  };
}

async function programOf(pid: number, executable: string): Promise<Program> {
  const argv = isInterpreter(executable) ? await readArguments(pid) : null;
  return { executable, script: argv === null ? null : findScript(argv) };
}
