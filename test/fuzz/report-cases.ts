import * as fc from "fast-check";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { extraTokens, tokens, usageRecord } from "../helpers/ledger/usage-record.ts";

/** What a request adds to a report. */
export interface Sums {
  requests: number;
  failed: number;
  input_uncached: number;
  cache_read: number;
  cache_write: number;
  output: number;
  partial: number;
  absent: number;
  maybe_unbilled: number;
}

/** Something that happened: its records, in any order, and what it adds to which rows. */
export interface ReportCase {
  records: UsageRecord[];
  /** By tool and by day, which the extra sets share; the model may be theirs. */
  adds: { tool: string; day: string; model: string | null; sums: Partial<Sums> }[];
}

type Counts = Pick<Sums, "input_uncached" | "cache_read" | "cache_write" | "output">;

const count = fc.nat(1000);
const counts: fc.Arbitrary<Counts> = fc.record({
  input_uncached: count,
  cache_read: count,
  cache_write: count,
  output: count,
});

const source = fc.record({
  tool: fc.constantFrom("codex", "zed", "unknown"),
  model: fc.constantFrom("m", "n", null),
  day: fc.constantFrom("2026-11-20", "2026-11-21"),
});

/** A request, completed or cut, perhaps recorded twice by a daemon that was restored from a backup. */
const request = fc
  .tuple(source, counts, fc.constantFrom("final", "partial", "absent"), fc.boolean())
  .map(([{ tool, model, day }, given, usage, isTwice]): ReportCase => {
    const known = usage !== "absent";
    const record = usageRecord({
      ts: `${day}T12:00:00.000Z`,
      tool,
      model,
      model_requested: null,
      usage,
      outcome: known ? "completed" : "cut",
      spend: known ? "count" : "never",
      tokens: known ? tokens(given) : null,
    });
    const sums = { requests: 1, [usage]: 1, ...(known ? given : {}) };
    return { records: isTwice ? [record, record] : [record], adds: [{ tool, day, model, sums }] };
  });

/** A request that was refused, failed, or has a route without cost. */
const failedOrFree = fc
  .tuple(source, fc.constantFrom("rejected", "error", "free"))
  .map(([{ tool, model, day }, kind]): ReportCase => {
    const record = usageRecord({
      ts: `${day}T12:00:00.000Z`,
      tool,
      model,
      model_requested: null,
      status: kind === "free" ? 200 : 429,
      outcome: kind === "free" ? "completed" : kind,
      usage: kind === "free" ? "none" : "absent",
      spend: "never",
      tokens: null,
    });
    return { records: [record], adds: kind === "free" ? [] : [{ tool, day, model, sums: { failed: 1 } }] };
  });

/** A background response, fetched any number of times. */
const background = fc
  .tuple(source, counts, fc.nat(3))
  .map(([{ tool, model, day }, given, fetches]): ReportCase => {
    const creation = usageRecord({
      ts: `${day}T12:00:00.000Z`,
      tool,
      model,
      model_requested: null,
      outcome: "queued",
      usage: "pending",
      spend: "attach_by_response_id",
      tokens: null,
    });
    const fetched = Array.from({ length: fetches }, () =>
      usageRecord({
        ts: `${day}T13:00:00.000Z`,
        tool: "curl",
        model,
        model_requested: null,
        route: "/responses/{id}",
        method: "GET",
        spend: "attach_by_response_id",
        response_id: creation.response_id,
        tokens: tokens(given),
      }),
    );
    const sums = fetches > 0 ? { requests: 1, ...given } : { requests: 1, absent: 1 };
    return { records: [creation, ...fetched], adds: [{ tool, day, model, sums }] };
  });

/** A request with an extra token set, whose billing is certain or uncertain. */
const withExtra = fc
  .tuple(source, counts, counts, fc.constantFrom("x", null), fc.boolean())
  .map(([{ tool, model, day }, given, beside, other, isCertain]): ReportCase => {
    const billable = isCertain ? true : null;
    const record = usageRecord({
      ts: `${day}T12:00:00.000Z`,
      tool,
      model,
      model_requested: null,
      tokens: tokens(given),
      extra: [extraTokens({ type: "advisor_message", model: other, billable, ...beside })],
    });
    const { input_uncached, cache_read, cache_write, output } = beside;
    const perhaps = { maybe_unbilled: input_uncached + cache_read + cache_write + output };
    return {
      records: [record],
      adds: [
        { tool, day, model, sums: { requests: 1, ...given } },
        { tool, day, model: other ?? model, sums: isCertain ? beside : perhaps },
      ],
    };
  });

export const reportCase: fc.Arbitrary<ReportCase> = fc.oneof(request, failedOrFree, background, withExtra);
