import type { UsageRecord } from "../../../core/ledger/record.ts";
import type { RunningRequest } from "../../../core/ledger/running-request.ts";
import { costTable } from "./cost.ts";
import { element } from "./elements.ts";
import type { Cost, FeedEntry } from "./feed-types.ts";
import { FeedError, readFeed } from "./feeds.ts";
import { formatTime } from "./numbers.ts";

/** Shows all fields of an entry; explains a record in words, with what it cost, line by line. */
export function showRecord(dialog: HTMLDialogElement, entry: FeedEntry | RunningRequest): void {
  const cost = element("div", { attributes: { "aria-live": "polite" } });
  const isEnded = "outcome" in entry;
  const sentences = isEnded ? explainRecord(entry).map((sentence) => element("li", {}, sentence)) : [];
  dialog.replaceChildren(
    element("button", { class: "close", onclick: () => dialog.close() }, "Close"),
    element("h2", {}, titleOf(entry)),
    element("ul", { class: "reasons" }, ...sentences),
    cost,
    element("h3", {}, "The whole record"),
    element(
      "dl",
      {},
      ...fieldsOf(entry).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]),
    ),
  );
  dialog.showModal();
  dialog.scrollTop = 0;
  if (isEnded) void showCost(cost, entry.id);
}

const MOST_TITLE = 100;

function titleOf(entry: FeedEntry | RunningRequest): string {
  const tool = "tool" in entry ? (entry.tool ?? "unknown") : "notice";
  return `${tool.slice(0, MOST_TITLE)}, ${formatTime(entry.ts)}`;
}

/** The fields that say something, those within others named like `tokens.output`. The cost has a table of its own. */
function fieldsOf(entry: object, prefix = ""): [name: string, value: string][] {
  return Object.entries(entry).flatMap(([name, value]: [string, unknown]) => {
    if (value === null || value === "" || (prefix === "" && name === "cost")) return [];
    if (typeof value === "object") return fieldsOf(value, `${prefix}${name}.`);
    return [[prefix + name, typeof value === "string" ? value : JSON.stringify(value)] as [string, string]];
  });
}

/** Asks what a request cost. */
async function showCost(parent: HTMLElement, id: string): Promise<void> {
  parent.replaceChildren(element("p", {}, "Cost: …"));
  try {
    const { cost } = await readFeed<{ cost: Cost }>("cost", { record: id });
    parent.replaceChildren(costTable(cost));
  } catch (error) {
    const reason = error instanceof FeedError ? error.message : "no daemon answers";
    parent.replaceChildren(element("p", {}, `Cost: not known, because ${reason}.`));
  }
}

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
function explainRecord(record: UsageRecord): string[] {
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
