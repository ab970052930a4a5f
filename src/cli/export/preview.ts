import { readLedgerAfter } from "../../adapters/ledger-file.ts";
import { encodeLogs, encodeMetrics, encodeSpans } from "../../adapters/otlp/encode.ts";
import { ledgerDirectory } from "../../adapters/paths.ts";
import type { OtlpConfig } from "../../core/config/config.ts";
import { describeExchange } from "../../core/export/describe-exchange.ts";
import { parseJson } from "../../core/json.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import { describeUsage } from "../../core/metrics/describe-usage.ts";
import { describeWindows } from "../../core/metrics/limit-metrics.ts";
import { readLimits } from "./read-limits.ts";
import { UsageMetrics } from "../../core/metrics/usage-metrics.ts";
import { readLastRecords } from "../ledger/last-records.ts";
import { loadConfig } from "../load-config.ts";
import { loadPrices } from "../prices/load-prices.ts";
import { note, print } from "../terminal/console.ts";
import { pluralize } from "../terminal/format.ts";
import { firstState, readExporterCheckpoint, senderOf } from "./open-exporter.ts";

/** How many records a preview shows by default. */
const USUAL_RECORDS = 10;

/** The settings of an exporter that is not configured yet. */
const NOT_CONFIGURED = {
  endpoint: null,
  headers: {},
  signals: ["records", "metrics"],
  trace: false,
  machine: null,
  user: null,
  resource: {},
} satisfies Omit<OtlpConfig, "endpoint" | "plainHttp" | "intervalMs"> & { endpoint: null };

/**
 * Prints the next requests to the collector as OTLP's JSON, which is equivalent to the protobuf that is sent; without `last`, those
 * of the next batch, or of the last records where none waits. Sends nothing, and needs neither a daemon nor a collector.
 */
export async function showPreview({
  config: file,
  last,
}: {
  config?: string | undefined;
  last?: number | undefined;
}): Promise<void> {
  const config = await loadConfig(file);
  const otlp = config.export.otlp ?? NOT_CONFIGURED;
  const directory = ledgerDirectory(config);
  const known = readExporterCheckpoint();
  const waiting = last === undefined && known !== null ? await nextBatch(directory, known.cursor) : [];
  const records = waiting.length > 0 ? waiting : await readLastRecords(directory, last ?? USUAL_RECORDS);
  note(describeShown(waiting.length, records.length));
  const state = known?.state ?? firstState();
  const sender = senderOf(otlp, state);
  const metrics = new UsageMetrics(waiting.length > 0 ? state.metrics : undefined);
  const prices = await loadPrices(config);
  for (const record of records) metrics.add(record, prices);
  const exchanges = records.map(describeExchange);
  const times = { startedAt: state.startedAt, now: Date.now() };
  const limits = readLimits(times.now);
  const { endpoint } = otlp;
  const requests = {
    endpoint: endpoint === null ? null : `${endpoint.origin}${endpoint.basePath}`,
    headers: Object.keys(otlp.headers),
    ...(otlp.signals.includes("records") &&
      (otlp.trace
        ? { "/v1/traces": parse(encodeSpans(exchanges, sender, "json")) }
        : { "/v1/logs": parse(encodeLogs(exchanges, sender, "json")) })),
    ...(otlp.signals.includes("metrics") && {
      "/v1/metrics": parse(
        encodeMetrics([...describeUsage(metrics), ...describeWindows(limits)], times, sender, "json"),
      ),
    }),
  };
  // The names of OTLP's fields are not those of our own documents.
  print(JSON.stringify(requests, null, 2));
}

function describeShown(waiting: number, shown: number): string {
  if (waiting > 0) return "note: this would be sent next";
  if (shown === 0) return "note: the ledger has no records";
  return `note: this is what a collector would get for the last ${pluralize(shown, "record")}`;
}

function parse(json: Uint8Array): unknown {
  return parseJson(Buffer.from(json).toString());
}

async function nextBatch(
  directory: string,
  cursor: Parameters<typeof readLedgerAfter>[1],
): Promise<UsageRecord[]> {
  for await (const { records } of readLedgerAfter(directory, cursor)) if (records.length > 0) return records;
  return [];
}
