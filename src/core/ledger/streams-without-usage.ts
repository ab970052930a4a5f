import type { Flag } from "../usage/reading.ts";
import type { Names } from "./groups.ts";
import type { SummableRecord } from "./record.ts";

/** A tool whose streams of Chat Completions leave its usage unknown, most likely because it does not ask for usage. */
export interface UnaskingTool {
  tool: string;
  /** Of its newest such stream. */
  userAgent: string | null;
  /** How many of its streams ended without usage. */
  streams: number;
}

/** The streams that a tool had of a model from an upstream. */
export interface SeenStreams {
  tool: string;
  upstream: string;
  model: string | null;
  /** When the newest one was requested, and whether it ended without usage. */
  ts: string;
  isSilent: boolean;
  userAgent: string | null;
  /** How many ended without usage. */
  silent: number;
  /** Their names, where streams of different names are told apart. */
  names?: Names;
}

/** Chat Completions and Completions, also below another path; the only APIs whose streams report usage only if asked. */
const ROUTE = /\/completions$/;

/** With these the service may have reported usage that could not be read. */
const UNREADABLE: readonly Flag[] = ["bad_json", "decode_failed"];

/**
 * Finds the tools that do not ask for usage. The newest stream that a tool had from an upstream decides, so a tool is no longer named
 * once it asks. Some upstreams report usage without being asked.
 */
export class StreamsWithoutUsage {
  readonly #seen = new Map<string, SeenStreams>();

  /** @param namesOf tells streams of a tool, an upstream and a model apart by further names */
  add(record: SummableRecord, namesOf?: (record: SummableRecord) => Names): void {
    if (!isWholeStream(record)) return;
    const { tool, upstream, ts, usage, user_agent: userAgent } = record;
    const isSilent = usage === "absent";
    const model = record.model ?? record.model_requested;
    const names = namesOf && { names: namesOf(record) };
    this.addSeen({ tool, upstream, model, ts, isSilent, userAgent, silent: isSilent ? 1 : 0, ...names });
  }

  /** Adds what another one has seen. Of the same time, the one that is added last counts as the newest. */
  addSeen(more: SeenStreams): void {
    const key = JSON.stringify([more.tool, more.upstream, more.model, more.names]);
    const known = this.#seen.get(key);
    if (known === undefined) {
      this.#seen.set(key, more);
      return;
    }
    const newest = more.ts >= known.ts ? more : known;
    // Set again, so that the order is that of the newest ones.
    this.#seen.delete(key);
    this.#seen.set(key, { ...newest, silent: known.silent + more.silent });
  }

  /** Returns all that was seen. */
  seen(): SeenStreams[] {
    return [...this.#seen.values()];
  }

  /** Returns the tools in alphabetical order. */
  tools(): UnaskingTool[] {
    const newest = new Map<string, SeenStreams>();
    const counts = new Map<string, number>();
    for (const seen of this.#seen.values()) {
      const { tool, upstream, ts, silent } = seen;
      const key = JSON.stringify([tool, upstream]);
      if (ts >= (newest.get(key)?.ts ?? "")) newest.set(key, seen);
      counts.set(tool, (counts.get(tool) ?? 0) + silent);
    }
    const unasking = new Map<string, SeenStreams>();
    for (const seen of newest.values())
      if (seen.isSilent && seen.ts >= (unasking.get(seen.tool)?.ts ?? "")) unasking.set(seen.tool, seen);
    return [...unasking.keys()].toSorted().map((tool) => ({
      tool,
      userAgent: unasking.get(tool)?.userAgent ?? null,
      streams: counts.get(tool) ?? 0,
    }));
  }
}

/** True for a stream that came to its end, where the usage is. */
function isWholeStream({ method, route, stream, outcome, flags }: SummableRecord): boolean {
  return (
    method === "POST" &&
    stream === true &&
    (outcome === "completed" || outcome === "incomplete") &&
    ROUTE.test(route) &&
    !UNREADABLE.some((flag) => flags.includes(flag))
  );
}
