import type { UsageRecord } from "../../../src/core/ledger/record.ts";

/** The members that no sum needs. */
const OTHERS = [
  "v",
  "tool_by",
  "process",
  "stop",
  "output_file",
  "upstream_request_id",
  "traceparent",
  "cut_by",
] as const satisfies (keyof UsageRecord)[];

/** Returns what `readQuickly` is to return for the line of a record. */
export function forSums(record: UsageRecord): object {
  const { tokens, raw_usage: rawUsage, server_tools: tools } = record;
  const isPriced = /"iterations"|"(?:audio|image)_tokens"/.test(JSON.stringify(rawUsage));
  const isCalled = Object.values(tools).some((calls) => calls > 0);
  return {
    ...without(record, OTHERS),
    tokens: tokens === null ? null : without(tokens, ["input_total", "total"]),
    raw_usage: isPriced ? rawUsage : null,
    server_tools: isCalled ? tools : {},
  };
}

function without(value: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}
