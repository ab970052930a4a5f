import { resolve } from "node:path";
import { takeActivatedSockets } from "../adapters/activated-sockets.ts";
import { openConfigFile } from "../adapters/config-file.ts";
import { createKeySources } from "../adapters/key-sources.ts";
import { createKeychain } from "../adapters/keychain.ts";
import { openLog, type DaemonLog } from "../adapters/log.ts";
import { openControl } from "./control/open.ts";
import { controlHandlers } from "./control-handlers.ts";
import { refuseMissingConfig } from "./named-config.ts";
import { configPath, outliersPath, pausePath, stateDirectory, tokenPath } from "../adapters/paths.ts";
import { openServiceNotifier } from "../adapters/service-notifier.ts";
import { fixOf } from "../adapters/system-fix.ts";
import { readEntries } from "../adapters/token-file/read.ts";
import { adoptTimeZone } from "../adapters/time-zone.ts";
import { refuseExposed } from "../adapters/trust/exposure.ts";
import type { Config } from "../core/config/config.ts";
import { listTrustVariables } from "../core/config/trust-variables.ts";
import { KeyFailure, messageOf } from "../core/failure.ts";
import { listConfiguredKeys } from "../core/policy/configured-keys.ts";
import { explainUnmaintainedNode } from "../core/node-releases.ts";
import type { ServiceNotifier } from "../ports.ts";
import { DaemonExporter } from "./exporter.ts";
import { OwnCommands } from "../adapters/programs/own-command.ts";
import { announce } from "./notices/announce.ts";
import { OutlierWatch } from "./notices/outlier-watch.ts";
import { feedSources, type FeedParts } from "./dashboard/feed-sources.ts";
import { ApprovedPages } from "../local/dashboard/approved-pages.ts";
import { refuseSecondDaemon } from "./running-daemon.ts";
import { hardenProcess } from "./harden.ts";
import { configureV8 } from "./configure-v8.ts";
import { trackLastError } from "./last-error.ts";
import { Lifecycle } from "./lifecycle.ts";
import { DaemonPauses } from "./pauses.ts";
import { RecordFeed } from "./record-feed.ts";
import { assembleGate, systemClock } from "./assemble-gate.ts";
import { SandboxUpstream } from "./sandbox-upstream.ts";
import { healthOf } from "./status.ts";

/** Signals that mean nothing to the daemon. SIGUSR1 is ignored from the first instant on, by no-inspector.ts. */
const IGNORED_SIGNALS = ["SIGUSR2", "SIGALRM", "SIGVTALRM", "SIGIO", "SIGPWR", "SIGSTKFLT"] as const;

interface ProcessOptions {
  debug: boolean;
  logFile: string | null;
  configOption: string;
}

/**
 * Prepares this process to hold a key, and opens the daemon's log. Call it first. `logFile` is absolute; null logs to standard
 * error. `configOption` is what commands in the log need to act on this daemon's configuration. Throws a Failure when an option of Node
 * would expose the key, or the file cannot be opened.
 */
export function prepareProcess({ debug, logFile, configOption }: ProcessOptions): DaemonLog {
  const warnings = [...hardenProcess(), adoptTimeZone()].filter((warning) => warning !== null);
  configureV8();
  // Writing to a closed terminal fails. That must not crash the daemon.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  // Their default action would cut every stream and lose its record.
  for (const signal of IGNORED_SIGNALS) process.on(signal, () => {});
  const log = openLog({ debug, file: logFile, configOption });
  for (const warning of warnings) log.warn({}, warning);
  return log;
}

/**
 * Starts a daemon. Throws a Failure when it cannot start, after reporting the reason to the service manager and the log, and
 * closing what was opened, which would keep the process alive.
 */
export async function startDaemon(configFile: string, log: DaemonLog): Promise<Lifecycle> {
  const notifier = openServiceNotifier(process.env, process.pid, log);
  const opened: { close(): unknown }[] = [];
  try {
    const lifecycle = await buildDaemon(configFile, log, notifier, opened);
    const unmaintained = explainUnmaintainedNode(process.versions.node, systemClock.now());
    if (unmaintained !== null) log.warn({}, unmaintained);
    void warnOfKeyFiles(lifecycle.config, log);
    return lifecycle;
  } catch (error) {
    const message = messageOf(error);
    const hint = fixOf(error);
    notifier.status(message);
    if (log.isPersistent) log.error({ hint }, `cannot start: ${message}`);
    await Promise.all(opened.map((part) => part.close()));
    throw error;
  }
}

/** Says at the start which key files cannot be used. Other sources are first asked when a request needs them: they may ask a person. */
async function warnOfKeyFiles(config: Config, log: DaemonLog): Promise<void> {
  const store = createKeySources(createKeychain());
  for (const { ref } of listConfiguredKeys(config)) {
    if (ref.source.kind !== "file") continue;
    await store.read(ref).catch((error: unknown) => {
      if (error instanceof KeyFailure) log.warn({ hint: error.hint }, error.message);
    });
  }
}

/** The composition root: creates every part of the daemon, connects them, and starts listening. */
async function buildDaemon(
  configFile: string,
  daemonLog: DaemonLog,
  notifier: ServiceNotifier,
  opened: { close(): unknown }[],
): Promise<Lifecycle> {
  const clock = systemClock;
  const { log, lastError } = trackLastError(daemonLog, clock);
  const sockets = takeActivatedSockets(process.env, process.pid);
  await refuseSecondDaemon(configFile);
  refuseMissingConfig(configFile);
  const source = await openConfigFile(configFile);
  const sandbox = new SandboxUpstream();
  opened.push(source, sandbox);
  for (const { name, path } of listTrustVariables(process.env, process.execArgv))
    if (path !== null) await refuseExposed(path, `${path}, which ${name} names,`);
  // Tokens, pauses, resets of budgets and what connect is to restore.
  const state = stateDirectory();
  await refuseExposed(state, `the directory of tollkeeper's state, ${state}`);

  // Before the first request.
  const exporter = new DaemonExporter(log);
  const feed = new RecordFeed();
  const pauses = new DaemonPauses({ path: pausePath(), clock, log });
  const sessions = new ApprovedPages(clock);
  const commands = new OwnCommands(() => {
    const { path, exists } = source.status();
    return exists ? path : null;
  });
  let running: FeedParts | null = null;
  const requestPath = await assembleGate({
    config: await sandbox.complete(source.current()),
    configFile: resolve(configFile) === configPath() ? null : resolve(configFile),
    keys: sandbox.keysBefore(createKeySources(createKeychain())),
    tokens: { read: () => readEntries(tokenPath()) },
    clock,
    log,
    feed,
    pauses,
    feeds: feedSources(() => running, sessions, commands),
    describeDaemon: async () => {
      if (running === null) return [];
      const { describeDaemonMetrics } = await import("./metrics/describe-daemon.ts");
      return describeDaemonMetrics(running);
    },
    health: () => (running === null ? "starting" : healthOf(running)),
    sockets,
    managed: () => source.status().managed,
  });
  const { tokens, gate, listeners, captures, ledger } = requestPath;
  captures.removeLeftovers();
  opened.push(gate, { close: () => listeners.destroy() });
  const notifies = () => source.current().outliers.notify;
  const outliers = new OutlierWatch({
    path: outliersPath(),
    ask: (words, isOver) => commands.run(words, isOver),
    isWatched: () => feed.isWatched || notifies(),
    recordsWritten: () => ledger.health().written,
    announce: (notice) => announce({ feed, clock, log }, notice, notifies()),
    clock,
    log,
  });
  opened.push(outliers);
  const reopenLog = () => daemonLog.reopen();
  const lifecycle = new Lifecycle({
    ...requestPath,
    source,
    sandbox,
    exporter,
    outliers,
    feed,
    notifier,
    log,
    reopenLog,
  });
  const parts = {
    ...requestPath,
    lifecycle,
    exporter,
    outliers,
    source,
    feed,
    pauses,
    sessions,
    lastError,
    clock,
    log,
  };
  running = parts;
  const control = await openControl(controlHandlers(parts), log);
  opened.push(control);
  // Picks up tokens that were added or revoked before the control socket was open.
  tokens.reload();
  lifecycle.begin(control);
  return lifecycle;
}
