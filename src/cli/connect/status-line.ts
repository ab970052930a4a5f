import { dirname, join, resolve } from "node:path";
import { currentHost } from "../../adapters/paths.ts";
import { findStatusLine, type ReplacedStatusLine } from "../../connect/status-line.ts";
import { Failure } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { chooseNode, chooseScript, createPathProbes } from "../../service/stable-paths.ts";
import { confirm, isInteractive } from "../terminal/confirm.ts";
import type { McpCommand } from "../../tools/recipe/mcp-server.ts";
import { configInUse, configOption } from "../config-in-use.ts";
import { CONNECTABLE_TOOLS } from "../../tools/all.ts";
import { note } from "../terminal/console.ts";
import { displayLocation, displayPath } from "../terminal/format.ts";
import { readToolHost } from "./local-endpoint.ts";
import type { ChangeOptions } from "./tool-changes.ts";

const AGAIN = "tollkeeper connect claude-code --statusline";

/**
 * Returns the command that draws the status line: the bundle of its own, and absolute paths that survive upgrades, because a tool that
 * was started from the desktop does not have the shell's PATH.
 */
export function statusLineCommand(): string {
  const [node, script] = choosePaths();
  return formatCommand([node.path, join(dirname(script.path), "tollkeeper-statusline.js")]);
}

/** A status line of ours that a tool draws, and what writes its command once more. */
export interface StatusLine extends ReplacedStatusLine {
  /** The tool's title. */
  tool: string;
  command: string;
  fix: string;
}

/** Finds them in the user's settings of each tool. */
export function findStatusLines(): StatusLine[] {
  return CONNECTABLE_TOOLS.flatMap((tool) => {
    const shown = findStatusLine(tool, readToolHost());
    if (shown === null) return [];
    const fix = formatCommand(["tollkeeper", "connect", tool.name, "--statusline", "--yes"]);
    return [{ ...shown, tool: tool.title, fix }];
  });
}

/** Returns what starts the MCP server: absolute paths, as above, and the configuration file if it is not the usual one. */
export function mcpCommand(): McpCommand {
  const [node, script] = choosePaths();
  return { program: [node.path, script.path], usual: configOption(configInUse()) };
}

/** Warns if the paths that `connect` writes into a tool's settings will stop working. `again`: the command that writes them once more. */
export function notePathRisks(again: string): void {
  for (const { risk } of choosePaths(again)) if (risk !== null) note(`warning: ${risk}`);
}

function choosePaths(again = AGAIN) {
  const probes = createPathProbes();
  const script = resolve(process.argv[1] ?? "");
  return [chooseNode(process.execPath, probes, again), chooseScript(script, probes, again)] as const;
}

/**
 * Asks whether the user's own status line may be replaced, which `--yes` does not answer.
 * @throws Failure when there is no terminal to ask on
 */
export async function confirmReplacement(
  { path, line, setting }: ReplacedStatusLine,
  { isDryRun }: ChangeOptions,
): Promise<boolean> {
  const file = displayPath(path, currentHost().home);
  const where = displayLocation(line === null ? file : `${file}:${line}`, setting);
  const both = "to show both, call from yours: tollkeeper statusline";
  if (isDryRun) {
    note(`warning: ${where} is a status line of your own, which this replaces; ${both}`);
    return true;
  }
  if (!isInteractive()) {
    throw new Failure(
      `${where} is a status line of your own; nothing was changed`,
      `${both}; to replace it, type this on a terminal: ${AGAIN}`,
    );
  }
  note(`${where} is a status line of your own; ${both}`);
  if (await confirm("Replace it? To disconnect restores it.")) return true;
  note("nothing was changed");
  return false;
}
