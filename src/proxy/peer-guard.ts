import type { Socket } from "node:net";
import type { Clock, Log, PeerInfo } from "../ports.ts";

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

  /** Was this connection's peer asked about already, and let in? The hot path. */
  hasAdmitted(socket: Socket): boolean {
    return this.#admitted.has(socket);
  }

  /** Asks the system; true: the peer may go on. */
  async admits(socket: Socket): Promise<boolean> {
    const { remoteAddress, remotePort, localAddress, localPort } = socket;
    if (remoteAddress === undefined || remotePort === undefined) return false;
    if (localAddress === undefined || localPort === undefined) return false;
    const uid = await this.#peers.uidOf(
      { address: remoteAddress, port: remotePort },
      { address: localAddress, port: localPort },
    );
    if (uid !== null && uid !== this.#ownUid && uid !== ROOT_UID) {
      this.#report(uid);
      return false;
    }
    this.#admitted.add(socket);
    return true;
  }

  #report(uid: number): void {
    const now = this.#clock.monotonic();
    if (now - this.#loggedAt < LOG_INTERVAL_MS) return;
    this.#loggedAt = now;
    this.#log.warn({ uid }, "refused a connection of another user of this machine");
  }
}
