import { readConfigFile, type ConfigReading } from "../../adapters/config-file.ts";
import { findMissingConfig } from "../../daemon/named-config.ts";
import { configPath } from "../../adapters/paths.ts";
import { freePortHint, isPortInUse } from "../../adapters/port-holder.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { commandAbout } from "../load-config.ts";
import { daemonStatus } from "../../daemon/running-daemon.ts";
import type { ServiceManager, ServiceState } from "../../service/service-manager.ts";
import { setAside } from "../../service/set-aside.ts";
import { matchCause, type CauseKind, type KnownCause } from "./failure-cause.ts";

const INSTALL = "tollkeeper service install";
const START = "tollkeeper service start";

/** Why an installed service does not start, and what to type next. */
export interface Diagnosis {
  message: string;
  /** One command, or a sentence that ends with one; `; then: ` precedes the next one, and `; or ` an alternative. */
  fix: string;
}

/** More lines than a daemon writes that cannot start, whose configuration may have 50 problems. */
const LOG_LINES = 200;

/**
 * Returns why an installed service does not run, or could not start again. Causes are looked for in what is there now, and only
 * then in the log, and one that the log tells is checked again, so that the fix is what is still missing.
 * @returns null when nothing is known to be wrong: then `service start` is next
 */
export async function diagnose(manager: ServiceManager, state: ServiceState): Promise<Diagnosis | null> {
  const obstacle = (await manager.problems()).find(({ preventsStart }) => preventsStart);
  if (obstacle !== undefined) return obstacle;
  if (!state.hasFailed) return null;
  const lines = await manager.lastLines(LOG_LINES, "last start");
  return diagnoseFailure(manager, state, [state.detail, ...lines.toReversed()]);
}

/** Returns the diagnosis of a failed start by what was printed about it, the newest first. */
export async function diagnoseFailure(
  manager: ServiceManager,
  state: ServiceState,
  texts: readonly string[],
): Promise<Diagnosis | null> {
  const cause = matchCause(texts);
  if (cause === null) return blameChanges(manager, "its log does not say why it fails", ANY_SETTING);
  const message = cause.kind === "definition" ? `${cause.what}: ${quote(cause, texts)}` : cause.what;
  const blame = cause.changes === null ? null : await blameChanges(manager, message, cause.changes);
  if (blame !== null) return blame;
  const remedy = await REMEDIES[cause.kind](manager, state);
  return remedy === null ? { message: cause.whatWas, fix: START } : { message, fix: remedy };
}

const ANY_SETTING = /^\s*\w+\s*=/m;

/** Returns null when no file of the user's own has such settings. */
async function blameChanges(
  manager: ServiceManager,
  message: string,
  settings: RegExp,
): Promise<Diagnosis | null> {
  const files = await manager.findChanges(settings);
  if (files.length === 0) return null;
  return { message: `${message}; see ${files.join(" and ")}`, fix: setAside(files, START) };
}

/** Returns the line that tells most: what systemd says of a step, rather than its exit code. */
function quote({ trace }: KnownCause, texts: readonly string[]): string {
  const lines = texts.filter((text) => trace.test(text));
  const line = lines.find((text) => /at step|Failed to |unmet condition/.test(text)) ?? lines[0] ?? "";
  return line.replace(/^tollkeeper\.(?:service|socket)(?:: | - .* was )/, "");
}

/** What to do about each cause; null when it is gone, and the service only has to be started. */
const REMEDIES: Record<CauseKind, (manager: ServiceManager, state: ServiceState) => Promise<string | null>> =
  {
    async "manual-daemon"(_manager, { pid }) {
      const running = await daemonStatus().catch(() => null);
      const isManual = running !== null && running.pid !== pid;
      return isManual ? `stop it with: tollkeeper service stop; then: ${START}` : null;
    },
    async port(_manager, state) {
      const reading = await readServiceConfig(state);
      const port = reading.ok ? reading.config.listen.port : state.port;
      if (port === null || !(await isPortInUse(port))) return null;
      const elsewhere = `set another "listen.port" with: ${editCommand(state)}; then: ${INSTALL}`;
      return `${freePortHint(port)}; then: ${START}; or ${elsewhere}`;
    },
    async configuration(_manager, state) {
      if ((await readServiceConfig(state)).ok) return null;
      return `correct it with: ${editCommand(state)}; then: ${START}`;
    },
    "missing-configuration": (_manager, state) => {
      const isBack = findMissingConfig(state.configFile ?? configPath()) === null;
      return Promise.resolve(
        isBack ? null : `create it with: ${editCommand(state)}; then: ${START}; or put it back`,
      );
    },
    async "node-settings"(manager) {
      const given = await manager.environment();
      const names = ["NODE_OPTIONS", "NODE_DEBUG"].filter((name) => given[name] !== undefined);
      if (names.length === 0) return null;
      return `unset ${names.join(" and ")} with: ${formatCommand(manager.unsetCommand(names))}; then: ${START}`;
    },
    program: () => Promise.resolve(`update the paths with: ${INSTALL}`),
    sandbox: () => Promise.resolve(`create the directories and try the sandbox again with: ${INSTALL}`),
    // A file that is still missing is one of the manager's problems.
    credential: () => Promise.resolve(null),
    definition: () => Promise.resolve(`rewrite it with: ${INSTALL}`),
  };

function readServiceConfig({ configFile }: ServiceState): Promise<ConfigReading> {
  return readConfigFile(configFile ?? configPath());
}

function editCommand({ configFile }: ServiceState): string {
  return commandAbout(configFile ?? configPath(), ["config", "edit"]);
}
