import type { CommandModule } from "yargs";
import { openConfigFile } from "../adapters/config-file.ts";
import { openControlSocket } from "../adapters/control-socket.ts";
import { createKeySources } from "../adapters/key-sources.ts";
import { createKeychain } from "../adapters/keychain/keychain.ts";
import { openLedger } from "../adapters/ledger-file.ts";
import { openLog } from "../adapters/log.ts";
import { createPeerInfo } from "../adapters/peer.ts";
import { Failure } from "../core/failure.ts";
import type { Clock, Log } from "../ports.ts";
import { Gate } from "../proxy/gate.ts";
import { Keyring } from "../proxy/keyring.ts";
import { PeerGuard } from "../proxy/peer-guard.ts";
import { prepareSettings } from "../proxy/settings.ts";
import { print } from "./console.ts";
import { controlPath, refuseSecondDaemon } from "./daemon.ts";
import { describeDaemon } from "./describe-daemon.ts";
import { Lifecycle, listenOn } from "./lifecycle.ts";
import { rememberErrors } from "./remember-errors.ts";
import { configPath, ledgerDirectory } from "./paths.ts";
import { SandboxFallback } from "./sandbox-fallback.ts";
import { welcome } from "./welcome.ts";

interface ServeArguments {
  config?: string | undefined;
  debug: boolean;
}

/** `tollkeeper serve`: the daemon, in the foreground; a service manager does the rest. */
export const serveCommand: CommandModule<object, ServeArguments> = {
  command: "serve",
  describe: "Run the daemon in the foreground",
  builder: (yargs) =>
    yargs
      .option("config", { type: "string" })
      .option("debug", { type: "boolean", default: false, describe: "Log refused requests too" }),
  handler: async ({ config, debug }) => {
    refuseHeaderDump();
    // A terminal that was closed takes no more lines; that must not end the daemon in mid-stream.
    for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
    const log = openLog({ debug, pretty: process.stderr.isTTY });
    const lifecycle = await startDaemon(config ?? configPath(), log);
    for (const line of welcome(lifecycle.port, lifecycle.config)) print(line);
    await lifecycle.stopped;
  },
};

/** Node prints the headers of every request under these, and a key is one of them. */
function refuseHeaderDump(): void {
  if (!/\b(?:https?|net)\b|\*/i.test(process.env["NODE_DEBUG"] ?? "")) return;
  throw new Failure("under NODE_DEBUG Node would print the key", "unset NODE_DEBUG, and use --debug instead");
}

const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

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

/** Builds every part, hands them to each other, and starts listening. The only composition root. */
async function buildDaemon(configFile: string, daemonLog: Log, opened: Closable[]): Promise<Lifecycle> {
  const clock = systemClock;
  const { log, lastError } = rememberErrors(daemonLog, clock);
  await refuseSecondDaemon();
  const source = await openConfigFile(configFile);
  const config = source.current();
  const directory = ledgerDirectory(config);
  const sandbox = new SandboxFallback();
  opened.push(source, sandbox);

  const ledger = openLedger({ directory, retainDays: config.ledger.retainDays, clock, log });
  const keyring = new Keyring(sandbox.keysBefore(createKeySources(createKeychain())), clock, log);
  const peers = new PeerGuard(createPeerInfo(), process.getuid?.() ?? null, clock, log);
  const settings = prepareSettings(await sandbox.complete(config));
  const gate = new Gate({ settings, keyring, ledger, peers, clock, log });
  const listener = await listenOn(config.listen.port, gate);
  opened.push({ close: () => listener.destroy() });
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
  lifecycle.begin(control);
  return lifecycle;
}
