import type { CutBy, ToolEvidence } from "../record.ts";
import type { UsageState } from "../../usage/reading.ts";

/** What identified a tool, in words (docs/connecting.md). */
export const EVIDENCE: Readonly<Record<ToolEvidence, string>> = {
  path: "the address that it requests, as connect sets it",
  token: "its local token, which proves it",
  header: "a header in which it names itself",
  signature: "its headers, which no other tool sends",
  process: "its process",
  library: "its library: the program itself is not known",
  unknown: "nothing",
};

/** How sure the tokens are, in words (docs/ledger.md). */
export const CERTAINTY: Readonly<Record<UsageState, string>> = {
  final: "The tokens are the service's final counts.",
  partial: "The response was cut off: the tokens are a lower bound.",
  absent: "The service reported no usage: the tokens are unknown, and not 0.",
  pending: "The response is still running in the background; a later fetch brings its usage.",
  none: "This route has no usage.",
};

/** Who ended a response early, in words. */
export const CUTTERS: Readonly<Record<CutBy, string>> = {
  client: "the tool",
  upstream: "the upstream",
  proxy: "tollkeeper",
  crash: "a crash of the daemon",
};
