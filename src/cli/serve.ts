import { openConfigFile } from "../adapters/config-file.ts";
import { openControlSocket } from "../adapters/control-socket.ts";
import { createKeySources } from "../adapters/key-sources.ts";
import { createKeychain } from "../adapters/keychain/keychain.ts";
import { openLog } from "../adapters/log.ts";
import type { Log } from "../ports.ts";
import type { Command } from "./command.ts";
import { print } from "./console.ts";
import { controlPath, refuseSecondDaemon } from "./daemon.ts";
import { describeDaemon } from "./describe-daemon.ts";
import { hardenProcess } from "./harden.ts";
import { Lifecycle } from "./lifecycle.ts";
import { rememberErrors } from "./remember-errors.ts";
import { configPath } from "./paths.ts";
import { openRequestPath, systemClock } from "./request-path.ts";
import { SandboxFallback } from "./sandbox-fallback.ts";
import type { ServeArguments } from "./serve-line.ts";
import { welcome } from "./welcome.ts";

/** `tollkeeper serve`: the daemon, in the foreground; a service manager does the rest. */
export const command: Command<ServeArguments> = {
  builder: (yargs) =>
    yargs
      .option("config", { type: "string" })
      .option("debug", { type: "boolean", default: false, describe: "Log refused requests too" }),
  handler: serve,
};

/** Runs the daemon until it is told to stop. Throws a Failure when it cannot start. */
export async function serve({ config, debug }: ServeArguments): Promise<void> {
  const warnings = hardenProcess();
  // A terminal that was closed takes no more lines; that must not end the daemon in mid-stream.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  const log = openLog({ debug, pretty: process.stderr.isTTY });
  for (const warning of warnings) log.warn({}, warning);
  const lifecycle = await startDaemon(config ?? configPath(), log);
  for (const line of welcome(lifecycle.port, lifecycle.config)) print(line);
  await lifecycle.stopped;
}

interface Closable {
  close(): unknown;
}

/** Starts a daemon; a start that fails closes what it has opened, which would keep the process alive. */
async function startDaemon(configFile: string, log: Log): Promise<Lifecycle> {
  const opened: Closable[] = [];
  try {
    return await buildDaemon(configFile, log, opened);
  } catch (error) {
    await Promise.all(opened.map((part) => part.close()));
    throw error;
  }
}

/** Builds every part, hands them to each other, and starts listening. The daemon's only composition root. */
async function buildDaemon(configFile: string, daemonLog: Log, opened: Closable[]): Promise<Lifecycle> {
  const clock = systemClock;
  const { log, lastError } = rememberErrors(daemonLog, clock);
  await refuseSecondDaemon();
  const source = await openConfigFile(configFile);
  const sandbox = new SandboxFallback();
  opened.push(source, sandbox);

  const { ledger, keyring, gate, listener } = await openRequestPath({
    config: await sandbox.complete(source.current()),
    keys: sandbox.keysBefore(createKeySources(createKeychain())),
    clock,
    log,
  });
  opened.push({ close: () => gate.close() }, { close: () => listener.destroy() });
  const lifecycle = new Lifecycle({ source, ledger, keyring, sandbox, gate, listener, log });
  const handlers = {
    status: () => describeDaemon({ lifecycle, source, keyring, ledger, gate, lastError }),
    reload: () => {
      lifecycle.reload();
      return true;
    },
    "keys-changed": () => {
      keyring.forget();
      return true;
    },
  };
  const control = await openControlSocket(controlPath(), handlers, log);
  opened.push(control);
  lifecycle.begin(control);
  return lifecycle;
}
