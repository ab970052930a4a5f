import { resolve } from "node:path";
import { takeActivatedSockets } from "../adapters/activated-sockets.ts";
import { openConfigFile } from "../adapters/config-file.ts";
import { openControlSocket, type ControlHandlers } from "../adapters/control-socket.ts";
import { createKeySources } from "../adapters/key-sources.ts";
import { createKeychain } from "../adapters/keychain.ts";
import { openLog, type DaemonLog } from "../adapters/log.ts";
import { openServiceNotifier } from "../adapters/service-notifier.ts";
import { readEntries } from "../adapters/token-file/read.ts";
import { Failure } from "../core/failure.ts";
import { messageOf } from "../core/thrown.ts";
import type { ServiceNotifier } from "../ports.ts";
import type { Command } from "../cli/command.ts";
import { EXIT, print } from "../cli/terminal/console.ts";
import { controlPath, refuseSecondDaemon } from "./client.ts";
import { describeDaemon } from "./status.ts";
import { hardenProcess } from "./harden.ts";
import { Lifecycle } from "./lifecycle.ts";
import { trackLastError } from "./last-error.ts";
import { configPath, tokenPath } from "../adapters/paths.ts";
import { RecordFeed } from "./record-feed.ts";
import { openRequestPath, systemClock } from "./request-path.ts";
import { SandboxFallback } from "./sandbox-fallback.ts";
import type { ServeArguments } from "../cli/commands/serve/arguments.ts";
import { welcome } from "../cli/commands/serve/welcome.ts";

/** `tollkeeper serve`: the daemon, in the foreground; a service manager does the rest. */
export const command: Command<ServeArguments> = {
  builder: (yargs) =>
    yargs
      .option("config", { type: "string" })
      .option("debug", { type: "boolean", default: false, describe: "Log refused requests too" })
      .option("log-file", { type: "string", describe: "Log there, and rotate it; default: standard error" }),
  handler: serve,
};

/** Runs the daemon until it is told to stop. Throws a Failure when it cannot start. */
export async function serve({ config, debug, logFile }: ServeArguments): Promise<void> {
  const warnings = hardenProcess();
  // A terminal that was closed takes no more lines; that must not end the daemon in mid-stream.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  const log = openLog({ debug, file: logFile === undefined ? null : resolve(logFile) });
  for (const warning of warnings) log.warn({}, warning);
  try {
    const lifecycle = await startDaemon(config ?? configPath(), log);
    // For who started it: the journal has asked for nothing.
    const isInJournal = log.isKept && logFile === undefined;
    if (!isInJournal) for (const line of welcome(lifecycle.port, lifecycle.config)) print(line);
    await lifecycle.stopped;
  } catch (error) {
    // It stands in the log file. Said again each time that a service manager tries, it would fill a file of its own.
    if (logFile === undefined || process.stderr.isTTY) throw error;
    process.exitCode = EXIT.failed;
  }
}

interface Closable {
  close(): unknown;
}

/**
 * Starts a daemon; a start that fails closes what it has opened, which would keep the process alive, and says why where
 * the service's user will look.
 */
async function startDaemon(configFile: string, log: DaemonLog): Promise<Lifecycle> {
  const notifier = openServiceNotifier(process.env, process.pid, log);
  const opened: Closable[] = [];
  try {
    return await buildDaemon(configFile, log, notifier, opened);
  } catch (error) {
    const message = messageOf(error);
    const hint = error instanceof Failure ? error.hint : undefined;
    notifier.status(message);
    if (log.isKept) log.error({ hint }, `cannot start: ${message}`);
    await Promise.all(opened.map((part) => part.close()));
    throw error;
  }
}

/** Builds every part, hands them to each other, and starts listening. The daemon's only composition root. */
async function buildDaemon(
  configFile: string,
  daemonLog: DaemonLog,
  notifier: ServiceNotifier,
  opened: Closable[],
): Promise<Lifecycle> {
  const clock = systemClock;
  const { log, lastError } = trackLastError(daemonLog, clock);
  const sockets = takeActivatedSockets(process.env, process.pid);
  await refuseSecondDaemon();
  const source = await openConfigFile(configFile);
  const sandbox = new SandboxFallback();
  opened.push(source, sandbox);

  const feed = new RecordFeed();
  const { ledger, keyring, tokens, gate, listeners } = await openRequestPath({
    config: await sandbox.complete(source.current()),
    keys: sandbox.keysBefore(createKeySources(createKeychain())),
    tokens: { read: () => readEntries(tokenPath()) },
    clock,
    log,
    feed,
    sockets,
  });
  opened.push({ close: () => gate.close() }, { close: () => listeners.destroy() });
  const reopenLog = () => daemonLog.reopen();
  const parts = { source, ledger, keyring, tokens, sandbox, gate, listeners, notifier, log, reopenLog };
  const lifecycle = new Lifecycle(parts);
  const handlers: ControlHandlers = {
    status: () =>
      describeDaemon({ lifecycle, source, keyring, tokens, ledger, gate, feed, lastError, clock }),
    reload: () => lifecycle.reload(),
    "keys-changed": () => keyring.forget(),
    "tokens-changed": () => tokens.reload(),
    drain: () => lifecycle.stop(),
    tail: (send) => feed.subscribe(send),
    lend: (tool, hash) => tokens.lend(tool, hash),
  };
  const control = await openControlSocket(controlPath(), handlers, log);
  opened.push(control);
  // A token that was added or revoked since they were read was told to nobody.
  tokens.reload();
  lifecycle.begin(control);
  return lifecycle;
}
