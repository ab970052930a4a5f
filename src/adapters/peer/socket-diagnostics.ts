import { readFileSync, readSync, writeSync } from "node:fs";
import type { Endpoint } from "../socket-table.ts";
import type { SocketOwner } from "./find-owners.ts";
import { isAnswerTo, readOwner, writeQuery } from "./sock-diag-message.ts";

/** More than an answer has: 124 bytes, with what the kernel adds to them. */
const ANSWER_BYTES = 4096;
const O_NONBLOCK = 0o4000;
/** Those that daemons which were killed at the wrong moment have left in the socket, which systemd passes to each. */
const MAX_OLD_ANSWERS = 16;
/** A connection may have been reset before the question, so one doubt proves nothing. */
const MAX_DOUBTS = 3;

/**
 * Asks the kernel for the owner of one TCP socket (sock_diag(7)), in 20 µs however many sockets there are: the kernel answers before
 * `write` returns. Node cannot open a netlink socket, so this needs one from systemd (`ListenNetlink=` in tollkeeper.socket).
 */
export class SocketDiagnostics {
  readonly #answer = Buffer.allocUnsafe(ANSWER_BYTES);
  #fd: number | null;
  /** Not from 0: an answer that an earlier daemon has left would pass for one to this one's query. */
  #sequence = Math.floor(Math.random() * 2 ** 32);
  /** True once the kernel has found our own end of a connection, and that it is ours. */
  #isProven = false;
  #doubts = 0;

  /** @param fd a netlink socket of the protocol NETLINK_SOCK_DIAG. It is not used unless reading from it never blocks. */
  constructor(fd: number) {
    this.#fd = isNonBlocking(fd) ? fd : null;
  }

  /** Returns the owner of the client's end of a connection to this process; null where the kernel does not tell here. */
  ownerOf(client: Endpoint, server: Endpoint): SocketOwner | null {
    if (!this.#isProven && !this.#prove(client, server)) return null;
    return this.#ask(client, server);
  }

  /**
   * Asks for our own end first. A kernel without diagnostics of TCP says that it does not exist, and a socket that was opened in another
   * user namespace may number users differently.
   */
  #prove(client: Endpoint, server: Endpoint): boolean {
    this.#isProven = this.#ask(server, client)?.uid === process.geteuid?.();
    if (!this.#isProven) this.#doubts += 1;
    if (this.#doubts === MAX_DOUBTS) this.#fd = null;
    return this.#isProven;
  }

  #ask(local: Endpoint, remote: Endpoint): SocketOwner | null {
    if (this.#fd === null) return null;
    this.#sequence = (this.#sequence + 1) % 2 ** 32;
    try {
      writeSync(this.#fd, writeQuery(local, remote, this.#sequence));
      for (let i = 0; i <= MAX_OLD_ANSWERS; i += 1) {
        const answer = this.#answer.subarray(0, readSync(this.#fd, this.#answer));
        if (isAnswerTo(this.#sequence, answer)) return readOwner(answer, local, remote);
      }
    } catch {
      // The socket is not usable, as in a network namespace that has gone. The kernel's tables remain.
    }
    this.#fd = null;
    return null;
  }
}

function isNonBlocking(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_NONBLOCK) !== 0;
  } catch {
    return false;
  }
}
