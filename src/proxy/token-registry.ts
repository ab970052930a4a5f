import { timingSafeEqual } from "node:crypto";
import { judgeName } from "../core/config/string-rules.ts";
import { Failure } from "../core/failure.ts";
import type { HeaderIndex } from "../core/http/header-index.ts";
import { mayBeToken } from "../core/identity/local-token.ts";
import { presentedCredentials } from "../core/http/presented-credentials.ts";
import type { Refusal } from "../core/http/refusal.ts";
import { messageOf } from "../core/thrown.ts";
import type { ToolIdentity } from "../core/identity/tool-identity.ts";
import type { Log, TokenStore } from "../ports.ts";
import { hashToken } from "./token-secret.ts";

/** Commands that borrow one at a time; far more than anybody runs. */
const MAX_LOANS = 100;

/** A token counts until this is called. */
export type ReleaseLease = () => void;

/** What is known of the tokens; shown by `status`. */
export interface TokenStatus {
  registered: number;
  lent: number;
  /** Why no registered token counts, and what to type; null when they do. */
  problem: { message: string; hint: string | null } | null;
}

/** What a request's token is compared with. */
interface Known {
  tool: string;
  hash: Buffer;
}

/**
 * Knows whose a local token is: those of the token store, and those that are lent to commands for as long as they run.
 * Where the store cannot be read, none of its tokens counts (facts/threats.md A8).
 */
export class TokenRegistry {
  readonly #store: TokenStore;
  readonly #log: Log;
  readonly #lent = new Set<Known>();
  #registered: readonly Known[] = [];
  #problem: TokenStatus["problem"] = null;

  constructor(store: TokenStore, log: Log) {
    this.#store = store;
    this.#log = log;
    this.reload();
  }

  /** Reads the registered tokens anew; takes effect for the next request. Never throws: it tells, and lets nobody in. */
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
   * The tool whose token a request shows, in either place where tools put their credential; null where it shows none. A store
   * that could not be read is read again, so that it counts once it is mended.
   */
  ownerOf(headers: HeaderIndex): string | null {
    for (const credential of presentedCredentials(headers)) {
      if (!mayBeToken(credential)) continue;
      if (this.#problem !== null) this.reload();
      const owner = this.#find(hashToken(credential));
      if (owner !== null) return owner;
    }
    return null;
  }

  /**
   * Lets in who shows the token with this hash (SHA-256, hexadecimal), which its borrower has made and keeps: so it can be
   * lent again by the daemon after this one. In memory only. Throws a Failure for what cannot be a tool's name or a hash,
   * and when too many are out.
   */
  lend(tool: string, hash: string): ReleaseLease {
    const wrong = judgeName(tool);
    if (wrong !== null) throw new Failure("a token is lent to a tool, by its name", wrong);
    if (!/^[0-9a-f]{64}$/.test(hash))
      throw new Failure(
        "a token is lent by its hash",
        "see whether program and daemon are of one version: tollkeeper status",
      );
    if (this.#lent.size >= MAX_LOANS) {
      throw new Failure(
        `${MAX_LOANS} tokens are lent already`,
        "end a command that runs under tollkeeper run",
      );
    }
    const known = { tool, hash: Buffer.from(hash, "hex") };
    this.#lent.add(known);
    return () => void this.#lent.delete(known);
  }

  get status(): TokenStatus {
    return { registered: this.#registered.length, lent: this.#lent.size, problem: this.#problem };
  }

  /** Told once for each problem, however often it is met. */
  #onProblem(message: string, hint: string | null): void {
    if (this.#problem?.message !== message) this.#log.error({ hint }, message);
    this.#problem = { message, hint };
  }

  /** Compares with every token and to the last byte, so that the time it takes says nothing of how near one came. */
  #find(hash: Buffer): string | null {
    let owner: string | null = null;
    for (const known of this.#registered) if (timingSafeEqual(known.hash, hash)) owner = known.tool;
    for (const known of this.#lent) if (timingSafeEqual(known.hash, hash)) owner = known.tool;
    return owner;
  }
}

/** For a request without a registered token, where one is asked for; `tool` is whose it claims to be. */
export function noToken({ tool, by }: ToolIdentity): Refusal {
  const name = by === "unknown" ? "TOOL" : tool;
  return {
    code: "token_required",
    message: `a local token is needed here; have one written into the tool's settings with: tollkeeper connect ${name}; or make one with: tollkeeper token add ${name}`,
    // RFC 9110 section 15.5.2 wants it on a 401.
    headers: ["www-authenticate", 'Bearer realm="tollkeeper"'],
  };
}
