import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Daemon } from "../../helpers/daemon/daemon.ts";
import {
  recordsIn,
  resourceOf,
  sumPointsIn,
  type Received,
  type ReceivedRecord,
} from "../../helpers/otlp/otlp-receiver.ts";
import type { Prometheus } from "../../helpers/prometheus/prometheus.ts";
import { sumExchanges, toNanodollars, type RecordedExchange, type Totals } from "./totals.ts";

/** Sums up the ledger from its files, by nothing but JSON. */
export function ledgerTotals(directory: string): Totals {
  return sumExchanges(readLines(directory).map(fromLedger));
}

/** Returns the nonces of the responses that the ledger names. */
export function recordedNonces(directory: string): Set<string> {
  return new Set(readLines(directory).map(({ response_id: id = "" }) => id.slice(id.indexOf("_") + 1)));
}

function readLines(directory: string): LedgerLine[] {
  const files = readdirSync(directory).filter((name) => /\.ndjson(\.gz)?$/.test(name));
  const lines = files.flatMap((name) => {
    const bytes = readFileSync(join(directory, name));
    const text = String(name.endsWith(".gz") ? gunzipSync(bytes) : bytes);
    // What follows the last line's end is being written.
    return text.split("\n").slice(0, -1);
  });
  return lines.map((line) => JSON.parse(line) as LedgerLine);
}

interface LedgerLine {
  id: string;
  route: string;
  outcome: string;
  status?: number;
  response_id?: string;
  model?: string;
  tokens?: { input_uncached: number; cache_read: number; cache_write: number; output: number };
}

function fromLedger({ id, route, outcome, status, model, tokens }: LedgerLine): RecordedExchange {
  const counts =
    tokens === undefined
      ? null
      : {
          uncached: tokens.input_uncached,
          cacheRead: tokens.cache_read,
          cacheWrite: tokens.cache_write,
          output: tokens.output,
        };
  return { id, route, outcome, status: status ?? null, model: model ?? null, tokens: counts };
}

/** Asks the feed of the dashboard. */
export async function feedTotals({ url }: Daemon): Promise<Totals> {
  const response = await fetch(`${url}/_tollkeeper/v1/usage?since=2000-01-01&by=tool`);
  if (!response.ok) throw new Error(`the feed responds with ${response.status}: ${await response.text()}`);
  const { total } = (await response.json()) as { total: Record<string, number> & { cost_usd: string } };
  const count = (name: string) => Number(total[name]);
  return {
    exchanges: null,
    requests: count("requests"),
    failed: count("failed"),
    free: null,
    input: count("input_uncached") + count("cache_read") + count("cache_write"),
    output: count("output"),
    cacheRead: count("cache_read"),
    nanodollars: toNanodollars(Number(total.cost_usd)),
  };
}

/** The counters in which Prometheus has totals. None of them may ever fall. */
export const COUNTERS = {
  requests: "tollkeeper_requests_total",
  input: "gen_ai_client_inference_usage_input_tokens_total",
  output: "gen_ai_client_inference_usage_output_tokens_total",
  cacheRead: "gen_ai_client_inference_usage_cache_read_input_tokens_total",
  cost: "tollkeeper_cost_usd_total",
} as const;

/** Asks a real Prometheus in PromQL. */
export async function prometheusTotals(prometheus: Prometheus): Promise<Totals> {
  const sum = async (selector: string) => (await prometheus.value(`sum(${selector})`)) ?? 0;
  const requests = (countedAs: string) => sum(`${COUNTERS.requests}{tollkeeper_counted_as="${countedAs}"}`);
  return {
    exchanges: await sum(COUNTERS.requests),
    requests: await requests("request"),
    failed: await requests("failed"),
    free: await requests("free"),
    input: await sum(COUNTERS.input),
    output: await sum(COUNTERS.output),
    cacheRead: await sum(COUNTERS.cacheRead),
    nanodollars: toNanodollars(await sum(COUNTERS.cost)),
  };
}

/** Sums up the log records that a receiver has kept, each id once. */
export function otlpRecordTotals(kept: readonly Received[]): Totals {
  return sumExchanges(kept.flatMap(recordsIn).map(fromLogRecord));
}

/** Returns how many log records came again. */
export function countRepeated(kept: readonly Received[]): number {
  const ids = kept.flatMap(recordsIn).map(({ id }) => id);
  return ids.length - new Set(ids).size;
}

function fromLogRecord({ id, attributes }: ReceivedRecord): RecordedExchange {
  const text = (name: string) => (name in attributes ? String(attributes[name]) : null);
  const count = (name: string) => Number(attributes[`gen_ai.usage.${name}`]);
  const status = text("http.response.status_code");
  const [cacheRead, cacheWrite] = [count("cache_read.input_tokens"), count("cache_write.input_tokens")];
  const hasTokens = text("gen_ai.usage.input_tokens") !== null;
  return {
    id,
    route: text("tollkeeper.route") ?? "",
    outcome: text("tollkeeper.outcome") ?? "",
    status: status === null ? null : Number(status),
    model: text("gen_ai.response.model"),
    tokens: hasTokens
      ? {
          uncached: count("input_tokens") - cacheRead - cacheWrite,
          cacheRead,
          cacheWrite,
          output: count("output_tokens"),
        }
      : null,
  };
}

/** Adds up the last value of each cumulative sum that a receiver has kept. Sums that began again are sums of their own. */
export function otlpSumTotals(kept: readonly Received[]): Totals {
  const last = new Map<string, { name: string; countedAs: unknown; value: number; time: bigint }>();
  for (const message of kept) {
    const instance = resourceOf(message)["service.instance.id"];
    for (const { name, attributes, value, start, time } of sumPointsIn(message)) {
      const key = JSON.stringify([instance, String(start), name, attributes]);
      if ((last.get(key)?.time ?? -1n) > time) continue;
      last.set(key, { name, countedAs: attributes["tollkeeper.counted_as"], value, time });
    }
  }
  const sum = (name: string, countedAs?: string) =>
    [...last.values()]
      .filter((one) => one.name === name && (countedAs === undefined || one.countedAs === countedAs))
      .reduce((total, { value }) => total + value, 0);
  const tokens = (name: string) => sum(`gen_ai.client.inference.usage.${name}`);
  return {
    exchanges: sum("tollkeeper.requests"),
    requests: sum("tollkeeper.requests", "request"),
    failed: sum("tollkeeper.requests", "failed"),
    free: sum("tollkeeper.requests", "free"),
    input: tokens("input_tokens"),
    output: tokens("output_tokens"),
    cacheRead: tokens("cache_read.input_tokens"),
    nanodollars: toNanodollars(sum("tollkeeper.cost.usd")),
  };
}
