import { formatCommand } from "../core/text/shell-words.ts";
import type { Step } from "./service-manager.ts";

/** Describes steps in full for `--dry-run`: every command, and every file with its contents. One line per element. */
export function describeSteps(steps: readonly Step[]): string[] {
  return steps.flatMap(describeStep);
}

function describeStep(step: Step): string[] {
  switch (step.kind) {
    case "write":
      return [
        `write ${step.path} (mode ${formatMode(step.mode)}):`,
        ...indent(step.text.trimEnd().split("\n")),
      ];
    case "make-directory":
      return [`create the directory ${step.path} (mode ${formatMode(step.mode)}), if it does not exist`];
    case "remove":
      return [`remove ${step.path}, if it exists; a directory only if it is empty`];
    case "run": {
      const condition = step.ifChanged === true ? ", if something has changed" : "";
      return [`run${condition}: ${formatCommand(step.argv)}`];
    }
    case "try":
      return [
        `try ${step.what}: ${formatCommand(step.argv)}`,
        "if it works:",
        ...indent(describeSteps(step.onSuccess)),
        "if it does not:",
        ...indent(describeSteps(step.onFailure)),
      ];
  }
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => (line === "" ? "" : `    ${line}`));
}

function formatMode(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}
