/** The commands that read the configuration file, each with what follows it in its line before the next command of ours. */
const OWN_COMMAND =
  /(?<![\w./-])tollkeeper(?= (?:(?<takesConfig>setup|uninstall|serve|key|token|usage|digest|export|ledger|prices|models|status|limits|mcp|route|metrics|tail|explain|capture|top|dashboard|budget|group|brake|alias|pause|resume|check|doctor|connect|disconnect|run|env|config(?! schema)|service install)|bridge|statusline|service|config|sandbox|completion|version|--help)\b(?<rest>(?:(?!tollkeeper ).)*))/g;

/**
 * Replaces `tollkeeper` in each command of ours within a text. `option` is `--config FILE` as a shell takes it, or "": it is put in front of
 * a command that reads the configuration file, names none, and does not only ask for help.
 */
export function writeOwnCommands(text: string, program: string, option: string): string {
  return text.replaceAll(OWN_COMMAND, (...match: unknown[]) => {
    const { takesConfig, rest = "" } = match.at(-1) as Record<string, string | undefined>;
    const isNamed = takesConfig === undefined || option === "" || / --(?:config[ =]|help\b)/.test(rest);
    return isNamed ? program : `${program} ${option}`;
  });
}
