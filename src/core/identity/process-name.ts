import { isInterpreter, isSessionEnd, isShell, nameOfProgram } from "./process-kinds.ts";
import { PROCESS_SIGNATURES, type ProcessSignature } from "./process-signatures.ts";
import { toolName } from "./tool-identity.ts";

/** A process as its name is judged. */
export interface Program {
  /** Path of the executable; its name alone where the path cannot be seen. */
  executable: string;
  /** What an interpreter runs; null for other programs, and where it cannot be told. */
  script: string | null;
}

/** What a process is called. */
export interface ProcessName {
  tool: string;
  /** Nothing but the executable's own name: no tool that is known has to do with it. */
  isOwn: boolean;
}

/**
 * Names a process, which stands first, followed by its parents, the nearest first. The first of them that is known as a
 * tool names it: a `curl` which Claude Code has started is Claude Code's. An editor does so only where no shell stands
 * between: its terminal is just a terminal. Above a terminal or a session's manager nobody is asked. What nobody claims
 * has its executable's own name, unless that is an interpreter's, a shell's, or a terminal's. Null: nothing is known.
 */
export function nameProcess(programs: readonly Program[]): ProcessName | null {
  const known = knownTool(programs);
  if (known !== null) return { tool: known, isOwn: false };
  const own = programs[0] === undefined ? null : ownName(programs[0]);
  return own === null ? null : { tool: own, isOwn: true };
}

/** Do a process's parents from this one on say nothing more of what it is? */
export function isLastParent({ executable, script }: Program): boolean {
  return isSessionEnd(executable) || signatureOf({ executable, script })?.isEditor === true;
}

function knownTool(programs: readonly Program[]): string | null {
  let isBehindShell = false;
  for (const program of programs) {
    const signature = signatureOf(program);
    if (signature !== undefined && !(signature.isEditor === true && isBehindShell)) return signature.tool;
    if (isLastParent(program)) return null;
    isBehindShell ||= isShell(program.executable);
  }
  return null;
}

function signatureOf({ executable, script }: Program): ProcessSignature | undefined {
  const paths = script === null ? [executable] : [executable, script];
  const names = paths.map(nameOfProgram);
  return PROCESS_SIGNATURES.find(
    (row) =>
      names.some((name) => row.names?.includes(name)) || paths.some((path) => row.path?.test(path) === true),
  );
}

function ownName({ executable }: Program): string | null {
  if (isInterpreter(executable) || isShell(executable) || isSessionEnd(executable)) return null;
  return toolName(nameOfProgram(executable));
}
