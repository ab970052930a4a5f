import { parseToolName } from "../config/names.ts";
import { nameScript } from "./name-script.ts";
import { isInterpreter, isRelay, isSessionRoot, isShell, toProgramName } from "./process-kinds.ts";
import { findProcessSignature, type ProcessSignature, type Program } from "./signatures.ts";

/** The tool that a process belongs to. */
export interface ProcessName {
  tool: string;
  /** True when no known tool started the process, and `tool` is only the name of its executable or script. */
  isProgramName: boolean;
}

/**
 * Names the first process of `programs`; its parents follow, nearest first. The nearest known tool gives the name: a `curl`
 * that Claude Code started belongs to Claude Code. An editor counts only without a shell in between, because its terminal
 * is just a terminal. Parents above a terminal or a session manager do not count. Without a known tool the name is the
 * executable's own, of an interpreter its script's; null for a shell or a terminal, and when it cannot be a tool's name. A program
 * that carries the connections of others, such as ssh, has none either, whatever started it.
 */
export function nameProcess(
  programs: readonly Program[],
  signatures: readonly ProcessSignature[],
): ProcessName | null {
  if (programs[0] !== undefined && isRelay(programs[0].executable)) return null;
  const known = findTool(programs, signatures);
  if (known !== null) return { tool: known, isProgramName: false };
  const own = programs[0] === undefined ? null : nameProgram(programs[0]);
  return own === null ? null : { tool: own, isProgramName: true };
}

/** True for a terminal, a session manager or an editor, whose parents cannot contribute to a name. */
export function isLastParent(program: Program, signatures: readonly ProcessSignature[]): boolean {
  return isSessionRoot(program.executable) || findProcessSignature(signatures, program)?.isEditor === true;
}

function findTool(programs: readonly Program[], signatures: readonly ProcessSignature[]): string | null {
  let isBehindShell = false;
  for (const program of programs) {
    const signature = findProcessSignature(signatures, program);
    const isEditor = signature?.isEditor === true;
    if (signature !== undefined && !(isEditor && isBehindShell)) return signature.tool;
    if (isEditor || isSessionRoot(program.executable)) return null;
    isBehindShell ||= isShell(program.executable);
  }
  return null;
}

function nameProgram({ executable, script }: Program): string | null {
  if (isInterpreter(executable)) return script === null ? null : nameScript(script);
  if (isShell(executable) || isSessionRoot(executable)) return null;
  return parseToolName(toProgramName(executable));
}
