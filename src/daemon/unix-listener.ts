import { dirname } from "node:path";
import {
  configPath,
  connectionsDirectory,
  ledgerDirectory,
  runtimeDirectory,
  stateDirectory,
  homeDirectory,
} from "../adapters/paths.ts";
import { socketTaken } from "../adapters/port-holder.ts";
import { guardDirectory } from "../adapters/unix-socket/guarded-directory.ts";
import { listenAt } from "../adapters/unix-socket/listen.ts";
import { refuseLongPath } from "../adapters/unix-socket/path.ts";
import type { Config } from "../core/config/config.ts";
import type { Log } from "../ports.ts";
import {
  closableOf,
  createUnixServer,
  type Closable,
  type ConnectionHandler,
} from "../proxy/client/listener.ts";

/** The listener on the Unix socket of `listen.socket`. */
export interface UnixListener extends Closable {
  path: string;
}

const SHORTER = "set a shorter path with: tollkeeper config edit";

/** Listens on the configured Unix socket. Rejects with a Failure when it cannot be guarded, or another program has it. */
export async function listenOnUnixSocket(
  path: string,
  config: Config,
  handler: ConnectionHandler,
  log: Log,
): Promise<UnixListener> {
  refuseLongPath(path, '"listen.socket"', SHORTER);
  const server = createUnixServer(handler);
  const ours = ownDirectories(config);
  const place = {
    path,
    name: 'the socket of "listen.socket"',
    prepareDirectory: (directory: string) => guardDirectory(directory, ours),
    taken: () => socketTaken(path),
  };
  const stopKeeping = await listenAt(server, place, log);
  const { close, destroy } = closableOf([server]);
  return {
    path,
    close() {
      stopKeeping();
      return close();
    },
    destroy() {
      stopKeeping();
      return destroy();
    },
  };
}

/** The control socket, the ledger and the tokens are in these. */
function ownDirectories(config: Config): string[] {
  const state = [stateDirectory(), ledgerDirectory(config), connectionsDirectory()];
  return [runtimeDirectory(), ...state, dirname(configPath()), homeDirectory()];
}
