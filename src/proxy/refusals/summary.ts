import type { RefusalCode } from "../../core/refusals/refusal.ts";
import type { Clock, Log } from "../../ports.ts";

/** How long refusals are counted before a line about them is logged. */
const INTERVAL_MS = 60 * 60 * 1000;

/** How many tools a line names for each code: clients choose their names. */
const MAX_TOOLS = 8;

/** How often a code was used. The tools are incomplete: most web pages are refused before anything names a tool. */
interface Count {
  requests: number;
  tools: Map<string, number>;
}

/**
 * Counts refused requests by code and tool, and logs one line about them an hour after the first. Single refusals are
 * not logged, because whoever is refused decides how many there are.
 */
export class RefusalSummary {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #counts = new Map<RefusalCode, Count>();
  readonly #totals = new Map<RefusalCode, number>();
  #since = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Counts a refused request. `tool` is null where it was refused before its tool was known. */
  count(code: RefusalCode, tool: string | null): void {
    if (this.#timer === null) {
      this.#since = this.#clock.now();
      this.#timer = setTimeout(() => this.flush(), INTERVAL_MS).unref();
    }
    this.#totals.set(code, (this.#totals.get(code) ?? 0) + 1);
    const count = this.#counts.get(code) ?? { requests: 0, tools: new Map<string, number>() };
    this.#counts.set(code, count);
    count.requests += 1;
    if (tool === null || tool === "unknown") return;
    const known = count.tools.get(tool);
    if (known !== undefined || count.tools.size < MAX_TOOLS) count.tools.set(tool, (known ?? 0) + 1);
  }

  /** Returns how many requests were refused since the start, by code. */
  totals(): Partial<Record<RefusalCode, number>> {
    return Object.fromEntries(this.#totals);
  }

  /** Logs what has been counted since the last line, if anything. */
  flush(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    const counts = [...this.#counts].sort(([, one], [, other]) => other.requests - one.requests);
    this.#counts.clear();
    const total = counts.reduce((sum, [, { requests }]) => sum + requests, 0);
    const what = total === 1 ? "1 request was refused" : `${total} requests were refused`;
    const since = new Date(this.#since).toISOString();
    const codes = counts.map(([code, count]) => describeCount(code, count)).join(", ");
    this.#log.info({}, `${what} since ${since}: ${codes}; find the cause with: tollkeeper doctor`);
  }
}

/** Returns e.g. `key_missing 12 (codex 9, qwen-code 3)`. */
function describeCount(code: RefusalCode, { requests, tools }: Count): string {
  const named = [...tools].sort(([, one], [, other]) => other - one);
  const list = named.map(([tool, count]) => `${tool} ${count}`).join(", ");
  return `${code} ${requests}${list === "" ? "" : ` (${list})`}`;
}
