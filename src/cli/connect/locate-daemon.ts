import type { Config } from "../../core/config/config.ts";
import { Failure } from "../../core/failure.ts";
import { listeningPort } from "../../daemon/running-daemon.ts";
import type { DaemonStatus } from "../../daemon/status.ts";
import { loadConfig, resolveConfigPath } from "../load-config.ts";

/** Where tools reach tollkeeper on this machine, and its configuration. */
export interface LocalDaemon {
  port: number;
  config: Config;
  /** Absolute path of the file that the configuration is read from, which may not exist. */
  configFile: string;
  isRunning: boolean;
}

/**
 * Returns the running daemon's port and configuration, or those that the next start will use.
 * @param status null when no daemon runs
 * @param configFile from the command line; undefined for the daemon's own file, else the default one
 * @throws Failure when no port is known, or the configuration is invalid
 */
export async function locateDaemon(
  status: DaemonStatus | null,
  configFile: string | undefined,
): Promise<LocalDaemon> {
  const file = resolveConfigPath(configFile ?? status?.config.path);
  const config = await loadConfig(file);
  const port = knownPort(status, config);
  if (port === null) {
    throw new Failure(
      'the port is unknown: "listen.port" is 0, so the system chooses a port at each start, and tollkeeper is not running',
      "start it first with: tollkeeper serve; or choose a port with: tollkeeper config set listen.port 8655",
    );
  }
  return { port, config, configFile: file, isRunning: status !== null };
}

/** Returns the daemon's port, else the configured one; null when the system will choose it. */
export function knownPort(status: DaemonStatus | null, { listen }: Config): number | null {
  if (status !== null) return listeningPort(status);
  return listen.port === 0 ? null : listen.port;
}
