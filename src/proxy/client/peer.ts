import { isRelay } from "../../core/identity/process-kinds.ts";
import type { PeerOwner, PeerProcess } from "../../ports.ts";

/** What a connection's user may do. */
export interface Permission {
  /** True if they may read metrics, because `export.metrics.peerUid` lists them. */
  readonly readsMetrics: boolean;
  /** False if they are admitted for metrics alone. */
  readonly usesProxy: boolean;
}

const nothing = () => Promise.resolve(null);

/**
 * The owner of a connection on the Unix socket. The socket's directory has let it in, so it is of our own user or of root; but it may
 * come out of a container or from another host, whose users and processes are not ours.
 */
const BEYOND_SOCKET: PeerOwner = {
  uid: null,
  findProcess: nothing,
  findProject: nothing,
  readBranch: nothing,
  recallProcess: () => null,
  recallProject: () => null,
};

/** The client's end of a connection that was admitted. */
export class Peer {
  /** null until the process is found; stays null if it is not. */
  process: PeerProcess | null = null;
  /** The directory the process works in. null until it is known; stays null if it cannot be or is not wanted. */
  project: string | null = null;
  /** True if the system says that the connection is of the user whom the daemon runs as. */
  readonly isOwn: boolean;
  /** True for a connection on the Unix socket. */
  readonly isOnUnixSocket: boolean;
  /** What the configuration lets the connection's user do. */
  readonly permission: Permission;
  readonly #owner: PeerOwner;
  readonly #withProject: boolean;
  #isLookingUp = false;
  #lookedUp: Promise<void> | null = null;

  /** @param ownUid the user whom the daemon runs as; null where there are none */
  constructor(owner: PeerOwner, withProject: boolean, ownUid: number | null, permission: Permission) {
    this.permission = permission;
    this.isOwn = owner.uid !== null && owner.uid === ownUid;
    this.isOnUnixSocket = owner === BEYOND_SOCKET;
    this.#owner = owner;
    this.#withProject = withProject;
  }

  /** Returns the peer of a connection on the Unix socket. */
  static onUnixSocket(): Peer {
    return new Peer(BEYOND_SOCKET, false, null, { readsMetrics: false, usesProxy: true });
  }

  /** False where the system does not report whose connection it is, and on the Unix socket. */
  get isKnown(): boolean {
    return this.#owner.uid !== null;
  }

  /** Looks for the process, then for its directory, which may have to wait for a slow disk. No request waits for either. */
  lookUp(isOver: () => boolean): Promise<void> {
    this.#lookedUp = this.#lookUp(isOver);
    return this.#lookedUp;
  }

  /**
   * Resolves to the branch on which the process works now, once its directory is known; to null if that cannot be known or is not
   * wanted. A tool keeps its connection while the branch changes, so each request asks. Never rejects.
   */
  async readBranch(): Promise<string | null> {
    if (!this.#withProject) return null;
    this.recall();
    if (this.project === null) await this.#lookedUp;
    return this.project === null ? null : this.#owner.readBranch(this.project);
  }

  async #lookUp(isOver: () => boolean): Promise<void> {
    this.#isLookingUp = true;
    const found = await this.#owner.findProcess({ isOver });
    this.process ??= found;
    const pid = this.#projectPid();
    if (pid !== null) this.project = await this.#owner.findProject(pid);
    this.#isLookingUp = false;
  }

  /** Takes what is known of the process from other connections, without waiting. */
  recall(): void {
    if (!this.#isLookingUp) return;
    this.process ??= this.#owner.recallProcess();
    const pid = this.#projectPid();
    if (pid !== null) this.project ??= this.#owner.recallProject(pid);
  }

  /** Returns the process whose directory is the client's; null if it is not known or not wanted, or is a relay. */
  #projectPid(): number | null {
    if (this.process === null || !this.#withProject) return null;
    const { pid, executable } = this.process.record;
    return isRelay(executable) ? null : pid;
  }
}
