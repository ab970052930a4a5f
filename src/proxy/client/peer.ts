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

/** How long a request waits for a look. By Linux's socket tables it takes microseconds to some milliseconds, on macOS some more. */
const LONGEST_WAIT_MS = 1_000;

/** A look that is under way, or over. */
interface Look {
  isPending: boolean;
  done: Promise<void>;
}

/** `work` never rejects. */
function look(work: Promise<void>): Look {
  const begun: Look = { isPending: true, done: Promise.resolve() };
  begun.done = work.then(() => {
    begun.isPending = false;
  });
  return begun;
}

/** Resolves when the look is over. One that takes too long is given up by everybody who would wait for it. */
async function noLonger(begun: Look): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      begun.isPending = false;
      resolve();
    }, LONGEST_WAIT_MS);
  });
  await Promise.race([begun.done, tooLong]);
  clearTimeout(timer);
}

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
  permission: Permission;
  readonly #owner: PeerOwner;
  readonly #withProject: boolean;
  /** Pending while the process is looked for; null before that. */
  #processLook: Look | null = null;
  /** As above, for the process and its directory. */
  #wholeLook: Look | null = null;

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

  /** Whose connection it is; null where the system does not report that, and on the Unix socket. */
  get uid(): number | null {
    return this.#owner.uid;
  }

  /** False where the system does not report whose connection it is, and on the Unix socket. */
  get isKnown(): boolean {
    return this.#owner.uid !== null;
  }

  /**
   * Looks for the process, then for its directory, which may have to wait for a slow disk. Only a request whose rules depend on one of
   * them waits for it, and not for long.
   */
  lookUp(isOver: () => boolean): Promise<void> {
    const process = this.#findProcess(isOver);
    this.#processLook = look(process);
    this.#wholeLook = look(process.then(() => this.#findProject()));
    return this.#wholeLook.done;
  }

  /** True while the process may still be found, or get its name: that of a script is read after its process is found. */
  get isProcessPending(): boolean {
    return (this.process?.name ?? null) === null && this.#processLook?.isPending === true;
  }

  /** True while the process's directory may still be found. */
  get isProjectPending(): boolean {
    return this.project === null && this.#withProject && this.#wholeLook?.isPending === true;
  }

  /** Resolves once the process has been looked for, or takes too long. Never rejects. */
  async whenProcessKnown(): Promise<void> {
    this.recall();
    if (this.isProcessPending && this.#processLook !== null) await noLonger(this.#processLook);
  }

  /** Resolves once the process and its directory have been looked for, or take too long. Never rejects. */
  async whenProjectKnown(): Promise<void> {
    this.recall();
    if (this.isProjectPending && this.#wholeLook !== null) await noLonger(this.#wholeLook);
  }

  /**
   * Resolves to the branch on which the process works now, once its directory is known; to null if that cannot be known or is not
   * wanted. A tool keeps its connection while the branch changes, so each request asks. Never rejects.
   */
  async readBranch(): Promise<string | null> {
    if (!this.#withProject) return null;
    this.recall();
    if (this.project === null) await this.#wholeLook?.done;
    return this.project === null ? null : this.#owner.readBranch(this.project);
  }

  async #findProcess(isOver: () => boolean): Promise<void> {
    const found = await this.#owner.findProcess({ isOver });
    this.process ??= found;
  }

  async #findProject(): Promise<void> {
    const pid = this.#projectPid();
    if (pid !== null) this.project = await this.#owner.findProject(pid);
  }

  /** Takes what is known of the process from other connections, without waiting. */
  recall(): void {
    if (this.#wholeLook?.isPending !== true) return;
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
