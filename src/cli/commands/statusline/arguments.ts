/** Arguments of `tollkeeper statusline`. */
export interface StatuslineArguments {
  /** undefined for the usual one. */
  format?: string | undefined;
}

/**
 * Parses `statusline [--format FORMAT]` without loading yargs, which would take more time than everything else.
 * @param words the command line, without node and the script
 * @returns null for any other command line, wrong usage and help included, which is left to yargs
 */
export function readStatuslineLine(words: readonly string[]): StatuslineArguments | null {
  const [command, option, value, ...rest] = words;
  if (command !== "statusline" || rest.length > 0) return null;
  if (option === undefined) return {};
  if (option === "--format" && value !== undefined && !value.startsWith("-")) return { format: value };
  if (option.startsWith("--format=") && value === undefined)
    return { format: option.slice("--format=".length) };
  return null;
}
