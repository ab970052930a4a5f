import { crc32 } from "node:zlib";
import { Conversations, type RunningRequest } from "../../../src/core/misses/conversations.ts";
import type { Hashing } from "../../../src/core/misses/part-hasher.ts";
import { createRequestScanner } from "../../../src/core/usage/request-scanner.ts";
import { createReading } from "../../../src/core/usage/usage-format.ts";
import { answeredBy } from "../../../src/core/misses/conversations.ts";
import { tokens } from "../../helpers/ledger/usage-record.ts";
import type { Tokens } from "../../../src/core/usage/reading.ts";

type Json = Record<string, unknown>;
export type Dialect = "messages" | "responses" | "chat";

export const HASHING: Hashing = { key: 0x5eed_1234, checksum: crc32 };

export const MINUTE = 60_000;

/** Counts of a response. */
export interface Counts {
  read?: number;
  write?: number;
  uncached?: number;
  life?: "5m" | "30m" | "1h";
}

export function countsOf({ read = 0, write = 0, uncached = 500, life = "5m" }: Counts): Tokens {
  const set = tokens({ cache_read: read, cache_write: write, input_uncached: uncached, output: 100 });
  return { ...set, cache_write_5m: 0, [`cache_write_${life}`]: write };
}

/** Requests of one agent of one session, as tools send them and as services answer. */
export class Script {
  readonly conversations: Conversations;
  readonly #dialect: Dialect;
  readonly #isInPieces: boolean;
  at = 1_000_000;

  /** @param isInPieces true for bodies that arrive in two pieces, so that they are hashed as they pass. */
  constructor(dialect: Dialect, { isInPieces = false, hashing = HASHING } = {}) {
    this.conversations = new Conversations(hashing);
    this.#dialect = dialect;
    this.#isInPieces = isInPieces;
  }

  begin(body: Json, agent = "agent-1"): RunningRequest {
    const scan = createRequestScanner(this.conversations.hashing);
    const bytes = Buffer.from(JSON.stringify(body));
    const cut = this.#isInPieces ? 1 : 0;
    for (const piece of [bytes.subarray(0, cut), bytes.subarray(cut)]) if (piece.length > 0) scan.feed(piece);
    const { readPrompt } = scan;
    if (readPrompt === null) throw new Error("the body is complete");
    return this.conversations.begin({
      sender: { tool: "claude-code", upstream: "anthropic", session: "session-1", agent },
      model: scan.model,
      readPrompt,
      dialect: this.#dialect,
      isStream: scan.stream === true,
      at: this.at,
    });
  }

  end(running: RunningRequest, counts: Counts, responseId: string | null = null) {
    const reading = createReading("completed", "final");
    reading.tokens = countsOf(counts);
    reading.response_id = responseId;
    return running.end(answeredBy(reading, this.at));
  }

  /** Sends a request whose response takes ten seconds. Returns the miss that is inferred. */
  send(body: Json, counts: Counts, responseId: string | null = null) {
    const running = this.begin(body);
    running.begin();
    this.at += 10_000;
    return this.end(running, counts, responseId);
  }

  wait(ms: number): void {
    this.at += ms;
  }
}
