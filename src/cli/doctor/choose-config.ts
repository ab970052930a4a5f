import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { configPath } from "../../adapters/paths.ts";
import { Failure } from "../../core/failure.ts";
import { daemonStatus } from "../../daemon/running-daemon.ts";
import { findServiceManager } from "../../service/find-manager.ts";
import { attempt } from "../attempt.ts";

/**
 * Returns the path of the configuration to examine: the named one, or the default one. Where there is no default one, the
 * running daemon or the installed service may have another.
 */
export async function chooseConfigFile(named: string | undefined): Promise<string> {
  if (named !== undefined) return resolve(named);
  const usual = configPath();
  if (existsSync(usual)) return usual;
  const { value: status } = await attempt(Failure, daemonStatus);
  if (status !== null) return status.config.path;
  const { value: state } = await attempt(Failure, async () => (await findServiceManager()).state());
  return state?.configFile ?? usual;
}
