import type { ConfiguredKey } from "../../core/policy/upstreams.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { buildServiceReport } from "../service/report.ts";
import type { Evidence } from "./evidence.ts";

/** Returns a tollkeeper command that applies to the configuration under examination. */
export function commandFor({ configFile, isDefaultConfigFile }: Evidence, args: string): string {
  const option = isDefaultConfigFile ? [] : ["--config", configFile];
  return formatCommand(["tollkeeper", ...args.split(" "), ...option]);
}

/** Returns the command that starts the daemon, as a service where possible, or that fixes what keeps the service from starting. */
export async function startCommand(evidence: Evidence): Promise<string> {
  const { state, cause } = await evidence.service();
  if (state === null) return commandFor(evidence, "serve");
  const { isInstalled, nodeExists, scriptExists } = buildServiceReport("", state, null, cause);
  if (!isInstalled || nodeExists === false || scriptExists === false) {
    return commandFor(evidence, "service install");
  }
  return cause?.hint ?? "tollkeeper service start";
}

/** Returns the command that replaces the running daemon by one of this version with this configuration. */
export async function restartCommand(evidence: Evidence): Promise<string> {
  const { state } = await evidence.service();
  if (state?.isRunning === true) return "tollkeeper service restart";
  const { status } = await evidence.daemon();
  const start = await startCommand(evidence);
  if (status === null) return start;
  return `${state === null ? `kill ${status.pid}` : "tollkeeper service stop"}, then: ${start}`;
}

/** Returns what to do to see the daemon's log. */
export async function logsCommand(evidence: Evidence): Promise<string> {
  const { state } = await evidence.service();
  if (state?.isInstalled === true) return "tollkeeper service logs";
  return "look at the terminal that it was started in";
}

/** Returns the command that stores a key where it is looked up. */
export function setKeyCommand(evidence: Evidence, key: ConfiguredKey): string {
  return commandFor(evidence, key.ref.setArguments);
}
