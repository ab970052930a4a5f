import { followDaemon } from "../../adapters/control-socket.ts";
import type { UnrecordedRefusal } from "../../core/http/refusal.ts";
import type { FeedEntry } from "../../daemon/record-feed.ts";
import { toPrintable } from "../../core/text/printable.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import type { Command } from "../command.ts";
import { explainAbsence } from "../service/explain-absence.ts";
import { note, print } from "../terminal/console.ts";
import { formatNumber } from "../terminal/format.ts";
import { controlPath } from "../../adapters/paths.ts";

/** `tollkeeper tail`: prints each exchange as it ends, and each refused request, until the daemon stops or Ctrl-C is pressed. */
export const command: Command<{ json: boolean }> = {
  builder: (yargs) =>
    yargs.option("json", {
      type: "boolean",
      default: false,
      describe: "Print JSON lines: records, refused requests that have none, and notices",
    }),
  handler: async ({ json }) => {
    const records = await followDaemon(controlPath());
    if (records === null) throw await explainAbsence(null);
    // The reader of a pipe, such as `head`, may close it at any time.
    process.stdout.once("error", () => process.exit());
    note("waiting for requests; stop with Ctrl-C");
    for await (const record of records)
      print(json ? JSON.stringify(record) : toPrintable(describe(record as FeedEntry)));
    note("the daemon has stopped");
  },
};

function describe(entry: FeedEntry): string {
  if ("notice" in entry) return `${timeOf(entry.ts)}  ${entry.notice}`;
  return "refused" in entry ? describeRefusal(entry) : describeExchange(entry);
}

/** What was refused before it had an upstream has neither model nor usage. */
function describeRefusal({ ts, tool, method, path, status, refused }: UnrecordedRefusal): string {
  return [
    timeOf(ts),
    (tool ?? "unknown").padEnd(12),
    `${method} ${path}`,
    `${status} ${refusedAs(refused)}`,
  ].join("  ");
}

/** The models' own word for what they decline is "refused", too. */
function refusedAs(code: string): string {
  return `refused by tollkeeper (${code})`;
}

function timeOf(ts: string): string {
  return new Date(ts).toTimeString().slice(0, 8);
}

/** Returns an exchange in one line without what is unknown. Control characters in names are not escaped. */
function describeExchange(record: UsageRecord): string {
  const { ts, tool, method, route, status, outcome } = record;
  const words = [
    timeOf(ts),
    tool.padEnd(12),
    `${method} ${route}`,
    record.model ?? record.model_requested ?? "",
    `${status ?? ""} ${outcome === "rejected" ? refusedAs(record.error_type ?? "unknown") : outcome}`.trim(),
    describeUsage(record),
    `${formatNumber(record.duration_ms / 1000)} s`,
  ];
  return words.filter((word) => word !== "").join("  ");
}

/** What was refused has cost nothing. */
function describeUsage({ tokens, usage, outcome }: UsageRecord): string {
  if (tokens !== null) return describeTokens(tokens, usage);
  return usage === "none" || outcome === "rejected" ? "" : `usage ${usage}`;
}

function describeTokens(tokens: NonNullable<UsageRecord["tokens"]>, usage: UsageRecord["usage"]): string {
  const { input_total: input, cache_read: cached, output } = tokens;
  const fromCache = cached === null || cached === 0 ? "" : ` (${formatNumber(cached)} cached)`;
  const known = [
    input === null ? "" : `${formatNumber(input)} in${fromCache}`,
    output === null ? "" : `${formatNumber(output)} out`,
  ];
  const words = known.filter((word) => word !== "").join(", ");
  return usage === "final" ? words : `${words} (${usage})`;
}
