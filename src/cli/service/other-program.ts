import { programBuild } from "../../adapters/program-build.ts";
import { programVersion } from "../../adapters/program.ts";
import type { DaemonStatus } from "../../daemon/status.ts";
import type { ServiceState } from "../../service/service-manager.ts";
import { commandAbout } from "../load-config.ts";

/**
 * Returns how the program of the running daemon differs from that of this command, as after an upgrade; null when it is the
 * same. A daemon that reports no build is older than that field.
 */
export function describeOtherProgram({ version, build }: DaemonStatus): string | null {
  const own = programVersion();
  if (version !== own)
    return `the daemon still runs tollkeeper ${version}, but this command is version ${own}`;
  if (build === programBuild()) return null;
  return `the daemon still runs another build of tollkeeper ${version} than this command`;
}

/**
 * Returns the command that replaces the running daemon by one of this command's program.
 * @param state of the service; null without a service manager
 */
export function replaceCommand({ pid, config }: DaemonStatus, state: ServiceState | null): string {
  if (state?.isRunning === true && state.pid === pid) return "tollkeeper service install";
  const start = state?.isInstalled === true ? ["service", "install"] : ["serve"];
  return `tollkeeper service stop, then: ${commandAbout(config.path, start)}`;
}
