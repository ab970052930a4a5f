import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { keyRefsOf, type Config } from "../../core/config/config.ts";
import { launchdLogFile } from "../../service/launchd.ts";
import { chooseNode, chooseScript } from "../../service/node-path.ts";
import { pathProbes } from "../../service/path-probes.ts";
import type { ServiceTarget } from "../../service/service-manager.ts";
import { ledgerDirectory, stateDirectory } from "../../adapters/paths.ts";

/** By these the person's own session may have other directories (paths.ts); systemd sets the last one itself. */
const PLACE_VARIABLES = ["XDG_STATE_HOME", ...(process.platform === "darwin" ? ["XDG_RUNTIME_DIR"] : [])];

/**
 * What a service of this installation would run, and what speaks against its paths.
 * @param configFile absolute
 */
export function serviceTarget(
  config: Config,
  configFile: string,
): { target: ServiceTarget; risks: string[] } {
  const probes = pathProbes();
  const node = chooseNode(process.execPath, probes);
  const script = chooseScript(resolve(process.argv[1] ?? ""), probes);
  const target: ServiceTarget = {
    node: node.path,
    script: script.path,
    configFile,
    port: config.listen.port,
    drainMs: config.limits.drainMs,
    writable: outermost([stateDirectory(), ledgerDirectory(config)]),
    reads: filesNamed(config),
    logFile: launchdLogFile(homedir()),
    environment: placeVariables(process.env),
    runsKeyCommands: keyRefsOf(config).some(({ ref }) => ref.source.kind === "command"),
    blindedSettings: blindedSettings(config),
  };
  return { target, risks: [node.risk, script.risk].filter((risk) => risk !== null) };
}

function filesNamed(config: Config): string[] {
  const { caFile } = config.outbound;
  const keyFiles = keyRefsOf(config).flatMap(({ ref }) =>
    ref.source.kind === "file" ? [ref.source.path] : [],
  );
  return [...(caFile === null ? [] : [caFile]), ...new Set(keyFiles)];
}

function blindedSettings({ ledger, access }: Config): string[] {
  return [
    ...(ledger.project ? ["ledger.project"] : []),
    ...(access.peerUid.length > 0 ? ["access.peerUid"] : []),
  ];
}

/** Without those that lie in another one of them. */
function outermost(directories: readonly string[]): string[] {
  const outer = directories.filter((one) => !directories.some((other) => one.startsWith(`${other}/`)));
  return [...new Set(outer)];
}

function placeVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const set: Record<string, string> = {};
  for (const name of PLACE_VARIABLES) {
    const value = env[name];
    if (value !== undefined && isAbsolute(value)) set[name] = value;
  }
  return set;
}
