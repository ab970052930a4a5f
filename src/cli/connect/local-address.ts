import type { Config } from "../../core/config/config.ts";
import { Failure } from "../../core/failure.ts";
import { portOf } from "../listening-port.ts";
import { loadConfig } from "../keys/target.ts";
import type { DaemonStatus } from "../commands/status/report.ts";

/** Where tools reach tollkeeper on this machine, and by which configuration. */
export interface LocalAddress {
  port: number;
  config: Config;
  /** Does a daemon listen there? */
  isRunning: boolean;
}

/**
 * Told by the running daemon, else by the configuration.
 * @param status of the daemon; null where none runs
 * @param configFile as the command line names it; undefined for the daemon's own, else the default one
 * @throws Failure where no port is known, or the configuration is not good
 */
export async function localAddress(
  status: DaemonStatus | null,
  configFile: string | undefined,
): Promise<LocalAddress> {
  const config = await loadConfig(configFile ?? status?.config.path);
  const port = knownPort(status, config);
  if (port === null) {
    throw new Failure(
      'no port is known: "listen.port" lets the system choose one, and tollkeeper is not running',
      "start it first: tollkeeper serve; or choose a port: tollkeeper config edit",
    );
  }
  return { port, config, isRunning: status !== null };
}

/** The daemon's port, else the one that it will have; null where the system is to choose. */
export function knownPort(status: DaemonStatus | null, { listen }: Config): number | null {
  if (status !== null) return portOf(status);
  return listen.port === 0 ? null : listen.port;
}

/** A tool's own base URL: with its mark, and without `/v1`. */
export function baseUrlOf(port: number, tool: string): string {
  return `http://127.0.0.1:${port}/t/${tool}`;
}

/**
 * What a tool shows in a key's place where no token is needed. Names it once more, for clients that lose the path
 * (facts/clients.md section 3).
 */
export function placeholderOf(tool: string): string {
  return `tk-${tool}`;
}
