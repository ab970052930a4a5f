import { existsSync } from "node:fs";
import type { Server, Socket } from "node:net";
import { connect } from "node:net";
import { dirname, resolve } from "node:path";
import { descriptorLimit } from "../../adapters/descriptor-limit.ts";
import { createPeerInfo } from "../../adapters/peer.ts";
import { refuseLongPath } from "../../adapters/unix-socket/path.ts";
import { DEFAULT_PORT } from "../../core/config/own-address.ts";
import { Failure, hasCode, messageOf } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { GONE_UID } from "../../ports.ts";
import { maxConnections } from "../../proxy/client/connections.ts";
import { note, print } from "../terminal/console.ts";
import { listenOnLoopback, writeAddresses } from "./listen-on-loopback.ts";
import { answerAndEnd, relay } from "./relay.ts";

/** As long as the daemon gives open streams by default. */
const DRAIN_MS = 30_000;

/** How often, in milliseconds, the same warning is repeated. */
const REPEAT_MS = 60_000;

const ROOT_UID = 0;

/** Options of {@link runBridge}. */
interface BridgeOptions {
  /** Path of the daemon's Unix socket, as it is seen here. */
  socket: string;
  /** Port on loopback; 0 chooses a free one. */
  port?: number | undefined;
}

/**
 * Passes connections of this host's loopback on to the daemon's Unix socket, until a signal ends it. It reads no configuration, keeps no
 * state and has no key. Only the user who runs it, and root, may use it, where the system tells whose a connection is (SECURITY.md A15).
 * Rejects with a Failure when the port or the socket cannot be used. A daemon that is not running yet is no error.
 */
export async function runBridge({ socket, port = DEFAULT_PORT }: BridgeOptions): Promise<void> {
  const path = resolve(socket);
  refuseLongPath(path, '"--socket"', "mount it at a shorter path");
  const problem = await examine(path);
  const bridge = new Bridge(path);
  const servers = await listenOnLoopback(port, (client) => void bridge.accept(client));
  print(`tollkeeper bridge listens on ${writeAddresses(servers).join(" and ")}, for ${path}`);
  if (problem !== null) note(`note: ${problem}; to see why, type on its host: tollkeeper doctor`);
  stopOnSignals(servers, bridge);
}

class Bridge {
  readonly #path: string;
  readonly #peers = createPeerInfo([]);
  readonly #ownUid = process.getuid?.() ?? null;
  readonly #most = maxConnections(descriptorLimit());
  readonly #clients = new Set<Socket>();
  readonly #saidAt = new Map<string, number>();
  #onEmpty: (() => void) | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  async accept(client: Socket): Promise<void> {
    if (this.#clients.size >= this.#most) {
      this.#say(`more than ${this.#most} connections at once; further ones are refused`);
      client.resetAndDestroy();
      return;
    }
    this.#clients.add(client);
    client.once("close", () => this.#left(client));
    const uid = await this.#uidOf(client);
    if (client.destroyed) return;
    if (uid === GONE_UID) {
      client.destroy();
      return;
    }
    if (uid !== null && uid !== this.#ownUid && uid !== ROOT_UID) {
      this.#say(
        `refused a connection of another user of this host, uid ${uid}; run the bridge as the user who runs the tools`,
      );
      client.resetAndDestroy();
      return;
    }
    relay(client, this.#path, (error) => {
      this.#say(`${describeUnreachable(this.#path, error)}; to see why, type on its host: tollkeeper doctor`);
      answerAndEnd(client, UNREACHABLE);
    });
  }

  /** Resolves when the last connection has closed. */
  drained(): Promise<void> {
    return new Promise((done) => {
      this.#onEmpty = done;
      if (this.#clients.size === 0) done();
    });
  }

  /** Breaks off every connection. */
  destroy(): void {
    for (const client of this.#clients) client.resetAndDestroy();
  }

  get open(): number {
    return this.#clients.size;
  }

  #left(client: Socket): void {
    this.#clients.delete(client);
    if (this.#clients.size === 0) this.#onEmpty?.();
  }

  /** Resolves to null where the system does not tell. */
  async #uidOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): Promise<number | null> {
    const { uid } = await this.#peers.lookUp(
      { address: remoteAddress ?? "", port: remotePort ?? 0 },
      { address: localAddress ?? "", port: localPort ?? 0 },
    );
    return uid;
  }

  #say(text: string): void {
    const now = performance.now();
    if (now - (this.#saidAt.get(text) ?? -Infinity) < REPEAT_MS) return;
    this.#saidAt.set(text, now);
    note(`warning: ${text}`);
  }
}

function openConnections(count: number): string {
  return count === 1 ? "1 open connection has" : `${count} open connections have`;
}

/** The first signal drains, the second stops at once. */
function stopOnSignals(servers: readonly Server[], bridge: Bridge): void {
  let isStopping = false;
  const stop = () => {
    if (isStopping) return bridge.destroy();
    isStopping = true;
    for (const server of servers) server.close();
    if (bridge.open > 0)
      note(`stopping when ${openConnections(bridge.open)} ended; a second signal stops at once`);
    const timer = setTimeout(() => bridge.destroy(), DRAIN_MS);
    void bridge.drained().then(() => {
      clearTimeout(timer);
      for (const signal of ["SIGTERM", "SIGINT"] as const) process.off(signal, stop);
    });
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, stop);
}

/**
 * Resolves to what is wrong with the socket and may be right later; null when a daemon listens. Throws a Failure for what stays wrong:
 * a directory that is not mounted, or closed to this user.
 */
async function examine(path: string): Promise<string | null> {
  const directory = dirname(path);
  if (!existsSync(directory)) {
    const hint = `mount the directory of "listen.socket" there; to see how, type on its host: tollkeeper connect devcontainer --print`;
    throw new Failure(`there is no ${directory}: the socket is not mounted here`, hint);
  }
  const error = await tryToConnect(path);
  if (error === null) return null;
  if (hasCode(error, "EACCES") || hasCode(error, "EPERM")) {
    const hint = `see whose it is with: ${formatCommand(["ls", "-ln", directory])}; then run the bridge as that user`;
    throw new Failure(`this user may not use ${path}`, hint, { cause: error });
  }
  return describeUnreachable(path, error);
}

function describeUnreachable(path: string, error: unknown): string {
  if (hasCode(error, "ENOENT"))
    return `there is no socket at ${path}: tollkeeper is not running, or has another "listen.socket"`;
  if (hasCode(error, "ECONNREFUSED")) return `nothing listens on ${path}: tollkeeper is not running`;
  return `${path} cannot be used: ${messageOf(error)}`;
}

function tryToConnect(path: string): Promise<Error | null> {
  return new Promise((done) => {
    const probe = connect(path);
    probe.once("connect", () => {
      probe.destroy();
      done(null);
    });
    probe.once("error", done);
  });
}

const UNREACHABLE_BODY = JSON.stringify({
  type: "error",
  error: {
    type: "api_error",
    code: "bridge_unreachable",
    message:
      "tollkeeper bridge cannot reach tollkeeper: nothing listens on its socket. On its host, type: tollkeeper doctor",
  },
});

/** The response while no daemon listens. It says nothing else, because anyone who can connect can read it. */
const UNREACHABLE = [
  "HTTP/1.1 502 Bad Gateway",
  "content-type: application/json",
  `content-length: ${UNREACHABLE_BODY.length}`,
  "x-content-type-options: nosniff",
  "connection: close",
  "",
  UNREACHABLE_BODY,
].join("\r\n");
