import { isAbsolute, resolve } from "node:path";
import { ledgerDirectory, stateDirectory, homeDirectory } from "../../adapters/paths.ts";
import type { Config } from "../../core/config/config.ts";
import { listConfiguredKeys } from "../../core/policy/configured-keys.ts";
import { findLaunchdClosedFiles, launchdLauncher, launchdLogFile } from "../../service/launchd.ts";
import type { ServiceTarget } from "../../service/service-manager.ts";
import { chooseNode, chooseScript, createPathProbes } from "../../service/stable-paths.ts";

/** Variables that move the directories of adapters/paths.ts. systemd sets XDG_RUNTIME_DIR itself. */
const LOCATION_VARIABLES = [
  "XDG_CONFIG_HOME",
  "XDG_STATE_HOME",
  ...(process.platform === "darwin" ? ["XDG_RUNTIME_DIR"] : []),
];

/**
 * Returns what a service of this installation runs, and the risks of its paths.
 * @param configFile absolute
 */
export function buildServiceTarget(
  config: Config,
  configFile: string,
): { target: ServiceTarget; risks: string[] } {
  const probes = createPathProbes();
  const node = chooseNode(process.execPath, probes);
  const script = chooseScript(resolve(process.argv[1] ?? ""), probes);
  const target: ServiceTarget = {
    node: node.path,
    script: script.path,
    configFile,
    port: config.listen.port,
    drainMs: config.limits.drainMs,
    writableDirectories: outermost([stateDirectory(), ledgerDirectory(config)]),
    trustedFiles: listTrustedFiles(config),
    logFile: launchdLogFile(homeDirectory()),
    launcher: launchdLauncher(homeDirectory()),
    environment: pickLocationVariables(process.env),
    runsKeyCommands: listConfiguredKeys(config).some(({ ref }) => ref.source.kind === "command"),
    sandboxIncompatibleSettings: listSandboxIncompatibleSettings(config),
  };
  const needed = [node.path, script.path, configFile, ...target.trustedFiles, ...target.writableDirectories];
  const closed = process.platform === "darwin" ? findLaunchdClosedFiles(needed, probes) : [];
  const risks = [node.risk, script.risk, ...closed.map(({ message, fix }) => `${message}: ${fix}`)];
  return { target, risks: risks.filter((risk) => risk !== null) };
}

function listTrustedFiles(config: Config): string[] {
  const { caFile } = config.outbound;
  const sources = listConfiguredKeys(config).map(({ ref }) => ref.source);
  const keyFiles = sources.flatMap((source) => (source.kind === "file" ? [source.path] : []));
  return [...(caFile === null ? [] : [caFile]), ...new Set(keyFiles)];
}

function listSandboxIncompatibleSettings({ ledger, access }: Config): string[] {
  return [
    ...(ledger.project ? ["ledger.project"] : []),
    ...(access.peerUid.length > 0 ? ["access.peerUid"] : []),
  ];
}

/** Omits directories that lie within another one of the list. */
function outermost(directories: readonly string[]): string[] {
  const outer = directories.filter((one) => !directories.some((other) => one.startsWith(`${other}/`)));
  return [...new Set(outer)];
}

function pickLocationVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const variables = LOCATION_VARIABLES.map((name) => [name, env[name] ?? ""] as const);
  return Object.fromEntries(variables.filter(([, value]) => isAbsolute(value)));
}
