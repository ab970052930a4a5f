import { printAssignment } from "../../connect/formats/shell-lines.ts";
import type { Shell } from "../../core/text/shell-words.ts";

export const SHELLS = ["sh", "fish"] as const satisfies readonly Shell[];

/** Returns the user's shell, from `$SHELL`. Every shell but fish counts as a POSIX shell. */
export function detectShell(env: NodeJS.ProcessEnv): Shell {
  return /(?:^|\/)fish$/.test(env["SHELL"] ?? "") ? "fish" : "sh";
}

/** Returns lines for the shell to evaluate: they export the variables, and unset the removed ones. */
export function formatEnvironment(
  shell: Shell,
  variables: Readonly<Record<string, string>>,
  removed: readonly string[],
): string[] {
  const unset = shell === "fish" ? "set -e" : "unset";
  return [
    ...removed.map((name) => `${unset} ${name}`),
    ...Object.entries(variables).map(([name, value]) => printAssignment(shell, name, value)),
  ];
}
