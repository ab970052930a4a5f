import type { Program } from "../../../src/core/identity/signatures.ts";

/** Parses `EXECUTABLE` or `EXECUTABLE > SCRIPT`; a bare name stands for an executable whose path is not visible. */
export function parseProgram(text: string): Program {
  const [executable = "", script] = text.split(" > ");
  return { executable, script: script === undefined ? null : { kind: "file", text: script } };
}
