import { basename } from "node:path";
import { isInterpreter } from "../../core/identity/process-kinds.ts";
import { isLastParent, nameProcess, type Program } from "../../core/identity/process-name.ts";
import { scriptOf } from "../../core/identity/script-of.ts";
import type { PeerProcess } from "../../ports.ts";
import { argumentsOf, executableOf, statOf } from "./process-files.ts";

/** So many parents are asked; a chain is seldom half as long. */
export const MOST_PARENTS = 15;

/** Looks into a process and its parents; null when it has gone meanwhile, or its executable may not be seen. */
export async function describeProcess(pid: number): Promise<PeerProcess | null> {
  const stat = statOf(pid);
  const executable = executableOf(pid);
  if (stat === null || executable === null) return null;
  const itself = await programOf(pid, executable);
  const parents = isLastParent(itself) ? [] : await parentsFrom(stat.parent);
  return peerProcess(pid, [itself, ...parents]);
}

/** A process, which stands first, with its parents, the nearest first, as records and reports want it. */
export function peerProcess(pid: number, programs: readonly [Program, ...Program[]]): PeerProcess {
  const [{ executable }, ...parents] = programs;
  return {
    record: { pid, executable, parents: parents.map((parent) => basename(parent.executable)) },
    name: nameProcess(programs),
  };
}

async function parentsFrom(first: number): Promise<Program[]> {
  const parents: Program[] = [];
  for (let pid = first; pid > 0 && parents.length < MOST_PARENTS;) {
    const stat = statOf(pid);
    if (stat === null) break;
    // Of another user's process, such as sshd, no more is shown than its name.
    const parent = await programOf(pid, executableOf(pid) ?? stat.name);
    parents.push(parent);
    if (isLastParent(parent)) break;
    pid = stat.parent;
  }
  return parents;
}

async function programOf(pid: number, executable: string): Promise<Program> {
  const argv = isInterpreter(executable) ? await argumentsOf(pid) : null;
  return { executable, script: argv === null ? null : scriptOf(argv) };
}
