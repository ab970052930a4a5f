import type { Socket } from "node:net";
import { GONE_UID, type Clock, type Log, type PeerInfo } from "../ports.ts";

const ROOT_UID = 0;
const LOG_INTERVAL_MS = 60_000;

/**
 * Keeps other users of the machine out: asks once per connection whose process is at the other end, as ssh-agent does
 * (facts/threats.md A8). Where the system cannot tell, everyone on loopback is let in; the README says so.
 */
export class PeerGuard {
  readonly #peers: PeerInfo;
  readonly #ownUid: number | null;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #admitted = new WeakSet<Socket>();
  #loggedAt = -LOG_INTERVAL_MS;

  constructor(peers: PeerInfo, ownUid: number | null, clock: Clock, log: Log) {
    this.#peers = peers;
    this.#ownUid = ownUid;
    this.#clock = clock;
    this.#log = log;
  }

  /** Holds a new connection up until the system has said whose it is: of a stranger's nothing is read before. */
  meet(socket: Socket): void {
    // Node begins to read in the next tick, whatever was said before.
    process.nextTick(() => void this.#ask(socket));
  }

  /** Has the system said that this connection's peer may go on? */
  hasAdmitted(socket: Socket): boolean {
    return this.#admitted.has(socket);
  }

  /** Asks the system whether the client has closed its end; false where it cannot tell. */
  async hasLeft(socket: Socket): Promise<boolean> {
    return (await this.#uidOf(socket)) === GONE_UID;
  }

  async #ask(socket: Socket): Promise<void> {
    socket.pause();
    const uid = await this.#uidOf(socket);
    if (uid === null || uid === this.#ownUid || uid === ROOT_UID) this.#admitted.add(socket);
    else if (uid !== GONE_UID) this.#report(uid);
    socket.resume();
  }

  async #uidOf(socket: Socket): Promise<number | null> {
    const { remoteAddress, remotePort, localAddress, localPort } = socket;
    if (remoteAddress === undefined || remotePort === undefined) return GONE_UID;
    if (localAddress === undefined || localPort === undefined) return GONE_UID;
    return this.#peers.uidOf(
      { address: remoteAddress, port: remotePort },
      { address: localAddress, port: localPort },
    );
  }

  #report(uid: number): void {
    const now = this.#clock.monotonic();
    if (now - this.#loggedAt < LOG_INTERVAL_MS) return;
    this.#loggedAt = now;
    this.#log.warn({ uid }, "refused a connection of another user of this machine");
  }
}
