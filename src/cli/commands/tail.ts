import { followDaemon } from "../../adapters/control-socket.ts";
import { printable } from "../../core/text/printable.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import type { Command } from "../command.ts";
import { note, print } from "../terminal/console.ts";
import { controlPath, notRunning } from "../../daemon/client.ts";

interface TailArguments {
  json: boolean;
}

/** `tollkeeper tail`: each exchange as it ends, until the daemon stops or Ctrl-C is pressed. */
export const command: Command<TailArguments> = {
  builder: (yargs) =>
    yargs.option("json", {
      type: "boolean",
      default: false,
      describe: "Print the records, one JSON line each",
    }),
  handler: async ({ json }) => {
    const records = await followDaemon(controlPath());
    if (records === null) throw notRunning();
    // Whoever reads, `head` say, may have enough.
    process.stdout.once("error", () => process.exit());
    note("waiting for exchanges; Ctrl-C ends this");
    for await (const record of records)
      print(json ? JSON.stringify(record) : printable(writeExchange(record as UsageRecord)));
    note("the daemon has stopped");
  },
};

const NUMBERS = new Intl.NumberFormat("en-US");

/** One exchange on one line, as long as no name in it has line ends: when, who, what, how it ended, what it spent. What is not known is left out. */
function writeExchange(record: UsageRecord): string {
  const { ts, tool, method, route, status, outcome, tokens, usage } = record;
  const words = [
    new Date(ts).toTimeString().slice(0, 8),
    tool.padEnd(12),
    `${method} ${route}`,
    record.model ?? record.model_requested ?? "",
    `${status ?? ""} ${outcome}`.trim(),
    tokens === null ? (usage === "none" ? "" : `usage ${usage}`) : writeTokens(tokens, usage),
    `${NUMBERS.format(record.duration_ms / 1000)} s`,
  ];
  return words.filter((word) => word !== "").join("  ");
}

function writeTokens(tokens: NonNullable<UsageRecord["tokens"]>, usage: UsageRecord["usage"]): string {
  const { input_total: input, cache_read: cached, output } = tokens;
  const fromCache = cached === null || cached === 0 ? "" : ` (${NUMBERS.format(cached)} cached)`;
  const known = [
    input === null ? "" : `${NUMBERS.format(input)} in${fromCache}`,
    output === null ? "" : `${NUMBERS.format(output)} out`,
  ];
  const words = known.filter((word) => word !== "").join(", ");
  return usage === "final" ? words : `${words} (${usage})`;
}
