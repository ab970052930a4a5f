import type { Socket } from "node:net";
import {
  GONE_UID,
  UNMAPPED_UID,
  type Clock,
  type Log,
  type PeerInfo,
  type PeerOwner,
  type ProcessQuery,
} from "../../ports.ts";
import type { Peer } from "../request-identity.ts";

const ROOT_UID = 0;
const LOG_INTERVAL_MS = 60_000;

/** An installation leaves the sandbox out where users are listed. */
const OUT_OF_SANDBOX = '"access.peerUid" counts for nothing here; type: tollkeeper service install';

const nothing = () => Promise.resolve(null);
const GONE: PeerOwner = { uid: GONE_UID, findProcess: nothing, findProject: nothing };

/**
 * Keeps other users of the machine out: asks once per connection whose process is at the other end, as ssh-agent does
 * (facts/threats.md A8). Where the system cannot tell, everyone on loopback is let in; the README says so.
 */
export class PeerGuard {
  readonly #peers: PeerInfo;
  readonly #ownUid: number | null;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #admitted = new WeakMap<Socket, Peer>();
  #letIn: readonly number[] = [];
  #loggedAt = -LOG_INTERVAL_MS;

  constructor(peers: PeerInfo, ownUid: number | null, clock: Clock, log: Log) {
    this.#peers = peers;
    this.#ownUid = ownUid;
    this.#clock = clock;
    this.#log = log;
  }

  /** Users that are let in beside our own and root, by uid; takes effect for the next connection. */
  setAllowedUids(uids: readonly number[]): void {
    this.#letIn = uids;
  }

  /**
   * Holds a new connection up until the system has said whose it is: of a stranger's nothing is read before. Then looks for
   * the process, and where `withProject` for its directory; for neither anything waits.
   */
  inspect(socket: Socket, withProject: boolean): void {
    // Node begins to read in the next tick, whatever was said before.
    process.nextTick(() => void this.#ask(socket, withProject));
  }

  /** The connection's peer, once the system has said that it may go on; null before, and where it may not. */
  admitted(socket: Socket): Peer | null {
    return this.#admitted.get(socket) ?? null;
  }

  /** Asks the system whether the client has closed its end; false where it cannot tell. */
  async hasLeft(socket: Socket): Promise<boolean> {
    return (await this.#ownerOf(socket)).uid === GONE_UID;
  }

  async #ask(socket: Socket, withProject: boolean): Promise<void> {
    socket.pause();
    const owner = await this.#ownerOf(socket);
    if (this.#mayEnter(owner.uid)) {
      const peer: Peer = { process: null, project: null };
      this.#admitted.set(socket, peer);
      const isOver = () => socket.destroyed;
      void fillIn(peer, owner, { isOver }, withProject);
    } else if (owner.uid !== null && owner.uid !== GONE_UID) this.#report(owner.uid);
    socket.resume();
  }

  #mayEnter(uid: number | null): boolean {
    return uid === null || uid === this.#ownUid || uid === ROOT_UID || this.#letIn.includes(uid);
  }

  async #ownerOf(socket: Socket): Promise<PeerOwner> {
    const { remoteAddress, remotePort, localAddress, localPort } = socket;
    if (remoteAddress === undefined || remotePort === undefined) return GONE;
    if (localAddress === undefined || localPort === undefined) return GONE;
    return this.#peers.lookUp(
      { address: remoteAddress, port: remotePort },
      { address: localAddress, port: localPort },
    );
  }

  #report(uid: number): void {
    const now = this.#clock.monotonic();
    if (now - this.#loggedAt < LOG_INTERVAL_MS) return;
    this.#loggedAt = now;
    if (uid !== UNMAPPED_UID) {
      this.#log.warn({ uid }, "refused a connection of another user of this machine");
      return;
    }
    // Root's among them. A list of users cannot be kept to.
    const hint = this.#letIn.length > 0 ? OUT_OF_SANDBOX : undefined;
    this.#log.warn(
      { hint },
      "refused a connection of another user; which one is not told within the sandbox",
    );
  }
}

/** The directory comes second: a disk may be slow to say what it belongs to. */
async function fillIn(
  peer: Peer,
  owner: PeerOwner,
  query: ProcessQuery,
  withProject: boolean,
): Promise<void> {
  peer.process = await owner.findProcess(query);
  if (peer.process === null || !withProject) return;
  peer.project = await owner.findProject(peer.process.record.pid);
}
