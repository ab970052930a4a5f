import type { UsageRecord } from "../../../core/ledger/record.ts";

/** What identified a tool, in words (docs/connecting.md). */
const EVIDENCE: Readonly<Record<UsageRecord["tool_by"], string>> = {
  path: "the address that it requests, as tollkeeper connect sets it",
  token: "its local token, which proves it",
  header: "a header in which it names itself",
  signature: "its headers, which no other tool sends",
  process: "its process",
  library: "its library: the program itself is not known",
  unknown: "nothing",
};

/** How sure the tokens are, in words (docs/ledger.md). */
const CERTAINTY: Readonly<Record<UsageRecord["usage"], string>> = {
  final: "The tokens are the service's final counts.",
  partial: "The response was cut off: the tokens are a lower bound.",
  absent: "The service reported no usage: the tokens are unknown, and not 0.",
  pending: "The response is still running in the background; a later fetch brings its usage.",
  none: "This route has no usage.",
};

const CUTTERS: Readonly<Record<string, string>> = {
  client: "the tool",
  upstream: "the upstream",
  proxy: "tollkeeper",
  crash: "a crash of the daemon",
};

/** Explains a record in sentences. */
export function explainRecord(record: UsageRecord): string[] {
  const { id, tool, tool_by: by, usage, outcome, cut_by: cutBy, error_type: type } = record;
  const sentences = [
    `The tool was recognized as ${tool} by ${EVIDENCE[by]}.`,
    CERTAINTY[usage],
    outcome === "cut" ? `The response was ended early by ${CUTTERS[cutBy ?? ""] ?? "the connection"}.` : "",
    outcome === "rejected" ? `tollkeeper refused the request: ${type ?? "for an unknown reason"}.` : "",
    `To see why it went to this upstream, type: tollkeeper route --explain ${id}`,
  ];
  return sentences.filter((sentence) => sentence !== "");
}
