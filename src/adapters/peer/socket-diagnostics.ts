import { readFileSync, readSync, writeSync } from "node:fs";
import type { Endpoint } from "../socket-table.ts";
import type { SocketOwner } from "./find-socket-rows.ts";
import { isAnswerTo, readOwner, writeQuery } from "./sock-diag-message.ts";

/** Larger than any answer, which has 124 bytes with its attributes. */
const BUFFER_BYTES = 4096;
const O_NONBLOCK = 0o4000;
/**
 * How many stale answers to skip. A daemon that is killed between question and answer leaves one in the socket, which systemd passes on to
 * the next.
 */
const MAX_OLD_ANSWERS = 16;
/** A connection may have been reset before the question, so one failure proves nothing. */
const MAX_FAILED_PROOFS = 3;

/**
 * Asks the kernel for the owner of one TCP socket (sock_diag(7)). The answer is there before `write` returns: in 20 µs, however many
 * sockets there are. Node cannot open a netlink socket, so this needs one from systemd (`ListenNetlink=` in tollkeeper.socket).
 */
export class SocketDiagnostics {
  readonly #answer = Buffer.allocUnsafe(BUFFER_BYTES);
  #fd: number | null;
  /** Random, so that an answer left by an earlier daemon is not mistaken for ours. */
  #sequence = Math.floor(Math.random() * 2 ** 32);
  /** True once the kernel has reported our own end of a connection as ours. */
  #isProven = false;
  #failedProofs = 0;

  /** @param fd a netlink socket of the protocol NETLINK_SOCK_DIAG. It is not used unless reading from it never blocks. */
  constructor(fd: number) {
    this.#fd = isNonBlocking(fd) ? fd : null;
  }

  /** Returns the owner of the client's end of a connection to this process; null where the kernel does not say. */
  ownerOf(client: Endpoint, server: Endpoint): SocketOwner | null {
    if (!this.#isProven && !this.#prove(client, server)) return null;
    return this.#ask(client, server);
  }

  /**
   * Asks for our own end first. A kernel without diagnostics of TCP reports ENOENT for it, and a socket that was opened in another user
   * namespace may number users differently.
   */
  #prove(client: Endpoint, server: Endpoint): boolean {
    this.#isProven = this.#ask(server, client)?.uid === process.geteuid?.();
    if (!this.#isProven) this.#failedProofs += 1;
    if (this.#failedProofs === MAX_FAILED_PROOFS) this.#fd = null;
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
      // The socket is not usable, as in a network namespace that no longer exists. The kernel's tables remain.
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
