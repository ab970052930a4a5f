import { timingSafeEqual } from "node:crypto";
import { checkName } from "../../core/config/names.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import type { HeaderIndex } from "../../core/http/header-index.ts";
import { looksLikeLocalToken } from "../../core/secrets/local-token.ts";
import { readPresentedCredentials } from "../../core/http/credential-headers.ts";
import type { Log, TokenStore } from "../../ports.ts";
import { hashToken } from "./token-hash.ts";

/** Far more than the number of commands that anyone runs at a time; each leases one token. */
const MAX_LEASES = 100;

/** Ends a lease. */
type ReleaseLease = () => void;

/** What is known about the tokens, for `status`. */
export interface TokenStatus {
  registered: number;
  leased: number;
  /** Why no registered token is accepted, and what to type; null when they are. */
  problem: { message: string; hint: string | null } | null;
}

/** An accepted token, by its hash. */
interface AcceptedToken {
  tool: string;
  hash: Buffer;
}

/**
 * Knows which tool a local token belongs to: the tokens of the token store, and those leased to commands while they run.
 * When the store cannot be read, none of its tokens is valid (SECURITY.md A8).
 */
export class TokenRegistry {
  readonly #store: TokenStore;
  readonly #log: Log;
  readonly #leased = new Set<AcceptedToken>();
  #registered: readonly AcceptedToken[] = [];
  #problem: TokenStatus["problem"] = null;

  constructor(store: TokenStore, log: Log) {
    this.#store = store;
    this.#log = log;
    this.reload();
  }

  /** Reads the registered tokens again, for the next request. Never throws: on failure it logs, and accepts none of them. */
  reload(): void {
    try {
      const entries = this.#store.read();
      this.#registered = entries.map(({ tool, hash }) => ({ tool, hash: Buffer.from(hash, "hex") }));
      this.#problem = null;
    } catch (error) {
      this.#registered = [];
      this.#onProblem(messageOf(error), error instanceof Failure ? (error.hint ?? null) : null);
    }
  }

  /**
   * Returns the tool whose token a request shows, in either header that tools use for their credential; null without one. Reads
   * a store again that could not be read before, so that its tokens are accepted once it is repaired.
   */
  ownerOf(headers: HeaderIndex): string | null {
    for (const credential of readPresentedCredentials(headers)) {
      if (!looksLikeLocalToken(credential)) continue;
      if (this.#problem !== null) this.reload();
      const owner = this.#find(hashToken(credential));
      if (owner !== null) return owner;
    }
    return null;
  }

  /**
   * Accepts the token with this hash (SHA-256, hexadecimal) as the tool's until the returned function is called. The command
   * that leases it has created the token and keeps it, so it can lease the same one from the next daemon. Leases are in
   * memory only. Throws a Failure for an invalid tool name or hash, and when there are too many leases.
   */
  lease(tool: string, hash: string): ReleaseLease {
    const wrong = checkName(tool);
    if (wrong !== null) throw new Failure("a lease needs the name of a tool", wrong);
    if (!/^[0-9a-f]{64}$/.test(hash))
      throw new Failure(
        "a lease needs the hash of a token",
        "check that program and daemon have the same version: tollkeeper status",
      );
    if (this.#leased.size >= MAX_LEASES) {
      throw new Failure(
        `${MAX_LEASES} tokens are already leased`,
        "end a command that was started with: tollkeeper run",
      );
    }
    const known = { tool, hash: Buffer.from(hash, "hex") };
    this.#leased.add(known);
    return () => void this.#leased.delete(known);
  }

  get status(): TokenStatus {
    return { registered: this.#registered.length, leased: this.#leased.size, problem: this.#problem };
  }

  /** Logs each problem once. */
  #onProblem(message: string, hint: string | null): void {
    if (this.#problem?.message !== message) this.#log.error({ about: "tokens", hint }, message);
    this.#problem = { message, hint };
  }

  /** Compares with every token in constant time, so that the duration reveals nothing about a near miss. */
  #find(hash: Buffer): string | null {
    let owner: string | null = null;
    for (const known of this.#registered) if (timingSafeEqual(known.hash, hash)) owner = known.tool;
    for (const known of this.#leased) if (timingSafeEqual(known.hash, hash)) owner = known.tool;
    return owner;
  }
}
