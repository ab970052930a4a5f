import type { Flag } from "../usage/reading.ts";
import type { UsageRecord } from "./record.ts";

/** A tool whose streams of Chat Completions leave its usage unknown, most likely because it does not ask for usage. */
export interface UnaskingTool {
  tool: string;
  /** Of its newest such stream. */
  userAgent: string | null;
  /** How many of its streams ended without usage. */
  streams: number;
}

/** Chat Completions and Completions, also below another path; the only APIs whose streams report usage only if asked. */
const ROUTE = /\/completions$/;

/** With these the service may have reported usage that could not be read. */
const UNREADABLE: readonly Flag[] = ["bad_json", "decode_failed"];

/**
 * Finds, among records in the ledger's order, the tools that do not ask for usage. The newest stream that a tool had from
 * an upstream decides, so a tool is no longer named once it asks. Some upstreams report usage without being asked.
 */
export class StreamsWithoutUsage {
  readonly #newest = new Map<string, UsageRecord>();
  readonly #counts = new Map<string, number>();

  add(record: UsageRecord): void {
    if (!isWholeStream(record)) return;
    const { tool, upstream, usage } = record;
    this.#newest.set(JSON.stringify([tool, upstream]), record);
    if (usage === "absent") this.#counts.set(tool, (this.#counts.get(tool) ?? 0) + 1);
  }

  /** Returns the tools in alphabetical order. */
  tools(): UnaskingTool[] {
    const silent = [...this.#newest.values()].filter(({ usage }) => usage === "absent");
    const byTool = new Map(silent.map((record) => [record.tool, record]));
    return [...byTool.keys()].toSorted().map((tool) => ({
      tool,
      userAgent: byTool.get(tool)?.user_agent ?? null,
      streams: this.#counts.get(tool) ?? 0,
    }));
  }
}

/** True for a stream that came to its end, where the usage is. */
function isWholeStream({ method, route, stream, outcome, flags }: UsageRecord): boolean {
  return (
    method === "POST" &&
    stream === true &&
    (outcome === "completed" || outcome === "incomplete") &&
    ROUTE.test(route) &&
    !UNREADABLE.some((flag) => flags.includes(flag))
  );
}
