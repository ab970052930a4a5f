import { repeatable } from "../core/config/problem.ts";
import type { ConfiguredKey } from "../core/config/config.ts";
import { writeCommand } from "../service/write-command.ts";
import { setKeyWords } from "./keys/target.ts";
import { reportService } from "./service/status.ts";
import type { Evidence } from "./doctor/evidence.ts";

/** A command of ours about the configuration that was looked at. */
export function commandFor({ configFile, isDefaultConfigFile }: Evidence, words: string): string {
  const option = isDefaultConfigFile ? [] : ["--config", configFile];
  return writeCommand(["tollkeeper", ...words.split(" "), ...option]);
}

/** What starts the daemon: as a service where it can be one, and whatever keeps the service from it first. */
export async function startCommand(evidence: Evidence): Promise<string> {
  const { state, cause } = await evidence.service();
  if (state === null) return commandFor(evidence, "serve");
  const { isInstalled, nodeExists, scriptExists } = reportService("", state, null, cause);
  if (!isInstalled || nodeExists === false || scriptExists === false) {
    return commandFor(evidence, "service install");
  }
  return cause?.hint ?? "tollkeeper service start";
}

/** What puts a daemon of this version, with this configuration, in place of the one that runs. */
export async function restartCommand(evidence: Evidence): Promise<string> {
  const { state } = await evidence.service();
  if (state?.isRunning === true) return "tollkeeper service restart";
  const { status } = await evidence.daemon();
  const start = await startCommand(evidence);
  if (status === null) return start;
  return `${state === null ? `kill ${status.pid}` : "tollkeeper service stop"}, then: ${start}`;
}

/** What shows the daemon's log. */
export async function logsCommand(evidence: Evidence): Promise<string> {
  const { state } = await evidence.service();
  if (state?.isInstalled === true) return "tollkeeper service logs";
  return "look at the terminal that it was started in";
}

/** What stores a key where it is looked for. */
export function setKeyCommand(evidence: Evidence, key: ConfiguredKey): string {
  return commandFor(evidence, setKeyWords(key));
}

/** A path as people write it, with `~` for their home directory. */
export function shorten(path: string, home: string): string {
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** A place and the name that something has in it: `~/.zshrc:12 (ANTHROPIC_API_KEY)`. The name may be anything at all. */
export function writePlace(where: string, name: string | null): string {
  return name === null ? where : `${where} (${repeatable(name)})`;
}
