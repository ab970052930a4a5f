import type { Socket } from "node:net";
import { GONE_UID, UNMAPPED_UID, type Clock, type Log, type PeerInfo, type PeerOwner } from "../../ports.ts";
import { Peer, type Permission } from "./peer.ts";

const ROOT_UID = 0;

/** What a user may do who is listed for it. */
const PROXY: Permission = { readsMetrics: false, usesProxy: true };
const METRICS: Permission = { readsMetrics: true, usesProxy: false };
const BOTH: Permission = { readsMetrics: true, usesProxy: true };
const LOG_INTERVAL_MS = 60_000;

/** Hint: a service that was installed before users were listed still runs in the sandbox, which hides who they are. */
const OUT_OF_SANDBOX =
  '"access.peerUid" has no effect in the sandbox; to leave it, type: tollkeeper service install';

/**
 * Refuses other users of the machine: asks the system once per connection whose process is at the other end, as ssh-agent does
 * (SECURITY.md A8). Where the system cannot tell, every user is admitted; the README says so.
 */
export class PeerGuard {
  readonly #peers: PeerInfo;
  readonly #ownUid: number | null;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #admitted = new WeakMap<Socket, Peer>();
  #allowedUids: readonly number[] = [];
  #readerUids: readonly number[] = [];
  #loggedAt = -LOG_INTERVAL_MS;

  constructor(peers: PeerInfo, ownUid: number | null, clock: Clock, log: Log) {
    this.#peers = peers;
    this.#ownUid = ownUid;
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Sets the users who are admitted besides our own and root, and those who may read metrics, who are admitted for that alone unless
   * they are among the former. Takes effect for the next request, also on a connection that is open.
   */
  setAllowedUids(uids: readonly number[], readers: readonly number[]): void {
    this.#allowedUids = uids;
    this.#readerUids = readers;
  }

  /**
   * Holds a new connection until the system has said which user it belongs to; nothing is read from it before. Then looks for
   * the process, and with `withProject` for its directory. No request waits for either. Resolves to true when the connection
   * is admitted.
   */
  inspect(socket: Socket, withProject: boolean): Promise<boolean> {
    return new Promise((resolve) => {
      // In the next tick, because Node starts reading then and would undo an earlier pause.
      process.nextTick(() => resolve(this.#ask(socket, withProject)));
    });
  }

  /** Admits a connection on the Unix socket, whose directory only our own user and root can enter (SECURITY.md A13). */
  admitOnUnixSocket(socket: Socket): void {
    this.#admitted.set(socket, Peer.onUnixSocket());
  }

  /**
   * Returns the peer of an admitted connection, with what its user may do now; null before the system has answered, for a refused
   * connection, and once its user is no longer listed.
   */
  admitted(socket: Socket): Peer | null {
    const peer = this.#admitted.get(socket) ?? null;
    if (peer === null || peer.isOnUnixSocket) return peer;
    const permission = this.#permissionOf(peer.uid);
    if (permission === null) return null;
    peer.permission = permission;
    return peer;
  }

  /** Resolves to true when the client has closed its end; false also where the system cannot tell. */
  async hasLeft(socket: Socket): Promise<boolean> {
    if (this.#admitted.get(socket)?.isOnUnixSocket === true) return socket.destroyed;
    const owner = await this.#ownerOf(socket);
    return owner === null || owner.uid === GONE_UID;
  }

  async #ask(socket: Socket, withProject: boolean): Promise<boolean> {
    socket.pause();
    const owner = await this.#ownerOf(socket);
    const permission = owner === null ? null : this.#permissionOf(owner.uid);
    if (owner !== null && permission !== null)
      this.#admit(socket, new Peer(owner, withProject, this.#ownUid, permission));
    else this.#report(owner?.uid ?? GONE_UID);
    socket.resume();
    return permission !== null;
  }

  #admit(socket: Socket, peer: Peer): void {
    this.#admitted.set(socket, peer);
    void peer.lookUp(() => socket.destroyed);
  }

  /** Returns null for a user who is not admitted. */
  #permissionOf(uid: number | null): Permission | null {
    const readsMetrics = uid !== null && this.#readerUids.includes(uid);
    if (this.#isAllowed(uid)) return readsMetrics ? BOTH : PROXY;
    return readsMetrics ? METRICS : null;
  }

  #isAllowed(uid: number | null): boolean {
    return uid === null || uid === this.#ownUid || uid === ROOT_UID || this.#allowedUids.includes(uid);
  }

  /** Resolves to null for a connection that has ended. */
  async #ownerOf(socket: Socket): Promise<PeerOwner | null> {
    const { remoteAddress, remotePort, localAddress, localPort } = socket;
    if (remoteAddress === undefined || remotePort === undefined) return null;
    if (localAddress === undefined || localPort === undefined) return null;
    return this.#peers.lookUp(
      { address: remoteAddress, port: remotePort },
      { address: localAddress, port: localPort },
    );
  }

  #report(uid: number): void {
    if (uid === GONE_UID) return;
    const now = this.#clock.monotonic();
    if (now - this.#loggedAt < LOG_INTERVAL_MS) return;
    this.#loggedAt = now;
    if (uid !== UNMAPPED_UID) {
      this.#log.warn({ uid }, "refused a connection from another user of this machine");
      return;
    }
    // All other users look alike in the sandbox, including listed ones and root.
    const hint = this.#allowedUids.length + this.#readerUids.length > 0 ? OUT_OF_SANDBOX : undefined;
    this.#log.warn({ hint }, "refused a connection from another user, whose uid is hidden in the sandbox");
  }
}
