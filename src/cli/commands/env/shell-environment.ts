import { lineOf, type Shell } from "../../../connect/formats/shell-lines.ts";

export const SHELLS = ["sh", "fish"] as const satisfies readonly Shell[];

/** The shell that a person uses, by `$SHELL`: all but fish are taken for Bourne's kind. */
export function shellOf(env: NodeJS.ProcessEnv): Shell {
  return /(?:^|\/)fish$/.test(env["SHELL"] ?? "") ? "fish" : "sh";
}

/** Lines which, evaluated, set variables for all that the shell starts from then on, and take others away. */
export function writeEnvironment(
  shell: Shell,
  variables: Readonly<Record<string, string>>,
  removed: readonly string[],
): string[] {
  const unset = shell === "fish" ? "set -e" : "unset";
  return [
    ...removed.map((name) => `${unset} ${name}`),
    ...Object.entries(variables).map(([name, value]) => lineOf(shell, name, value)),
  ];
}
