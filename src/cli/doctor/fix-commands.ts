import type { ConfiguredKey } from "../../core/policy/configured-keys.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { commandAbout } from "../load-config.ts";
import type { Evidence } from "./evidence.ts";

/** Returns a tollkeeper command that applies to the configuration under examination. */
export function commandFor(evidence: Evidence, args: string): string {
  return commandWith(evidence, args.split(" "));
}

/** Returns a tollkeeper command like {@link commandFor}, of words that may contain spaces. */
export function commandWith({ configFile }: Evidence, words: readonly string[]): string {
  return commandAbout(configFile, words);
}

/** Returns the command that starts the daemon, as a service where possible, or that fixes what keeps the service from starting. */
export async function startCommand(evidence: Evidence): Promise<string> {
  const { state, diagnosis } = await evidence.service();
  if (state === null) return commandFor(evidence, "serve");
  if (!state.isInstalled) return commandFor(evidence, "service install");
  return diagnosis?.fix ?? "tollkeeper service start";
}

/** Returns the command that replaces the running daemon by one of this version with this configuration. */
export async function restartCommand(evidence: Evidence): Promise<string> {
  const { state } = await evidence.service();
  if (state?.isRunning === true) return "tollkeeper service restart";
  return replaceCommand(evidence, await startCommand(evidence));
}

/** Returns the command that has the daemon run with the configuration under examination, whose path it names. */
export async function useConfigurationCommand(evidence: Evidence): Promise<string> {
  const { state } = await evidence.service();
  const words = state?.isInstalled === true ? ["service", "install"] : ["serve"];
  const command = formatCommand(["tollkeeper", ...words, "--config", evidence.configFile]);
  return state?.isRunning === true ? command : replaceCommand(evidence, command);
}

/** Returns the command that stops the running daemon, and the one that starts another. */
async function replaceCommand(evidence: Evidence, start: string): Promise<string> {
  const { status } = await evidence.daemon();
  return status === null ? start : `tollkeeper service stop, then: ${start}`;
}

/** Returns the command that shows the daemon's log; null where the log is in the terminal in which the daemon was started. */
export async function logsCommand(evidence: Evidence): Promise<string | null> {
  const { state } = await evidence.service();
  return state?.isInstalled === true ? "tollkeeper service logs" : null;
}

/** Returns the command that stores a key where it is looked up. */
export function setKeyCommand(evidence: Evidence, key: ConfiguredKey): string {
  return commandFor(evidence, key.ref.setArguments);
}
