import type { PeerProcess } from "../../ports.ts";
import type { DescribedProcess } from "./describe-process.ts";
import type { WantedSocket } from "./open-sockets.ts";

/** The question which process holds a socket. */
export class SocketQuery implements WantedSocket {
  readonly socket: string;
  readonly uid: number;
  /** Number of the known process that was found last before the query started. */
  readonly knownAtStart: number;
  /** Number of the last known process that it was compared with. */
  comparedTo = 0;
  /** True once it was recalled without success. */
  isRecalled = false;
  /** The answer, perhaps still without a name. */
  found: PeerProcess | null = null;
  /** Resolves to the answer with its name; to null when there is none. */
  readonly ended: Promise<PeerProcess | null>;
  readonly #isOver: () => boolean;
  #resolve: (found: PeerProcess | null) => void = () => {};

  /** @param socket as a process's list of open files spells it */
  constructor(socket: string, uid: number, knownAtStart: number, isOver: () => boolean) {
    this.socket = socket;
    this.uid = uid;
    this.knownAtStart = knownAtStart;
    this.#isOver = isOver;
    this.ended = new Promise((resolve) => (this.#resolve = resolve));
  }

  get isWanted(): boolean {
    return this.found === null && !this.#isOver();
  }

  take({ found, named }: DescribedProcess): void {
    this.found = found;
    void named.then(() => this.#resolve(found));
  }

  /** Ends a query that has found nothing. */
  giveUp(): void {
    if (this.found === null) this.#resolve(null);
  }
}
