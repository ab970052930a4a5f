import type { UsageRecord } from "../../../core/ledger/record.ts";
import { CERTAINTY, CUTTERS, EVIDENCE } from "../../../core/ledger/explain/record-words.ts";
import type { RunningRequest } from "../../../core/ledger/running-request.ts";
import { costTable, describeCost, worthTable } from "./cost.ts";
import { element, withCommand } from "./elements.ts";
import type { FeedEntry, RecordCost } from "./feed-types.ts";
import { FeedError, readFeed } from "./feeds.ts";
import { describeEnd, lastPart } from "./live/live-rows.ts";
import { formatMoment } from "./numbers.ts";
import { explainMiss } from "./record/miss-words.ts";
import { recordGlance } from "./record/record-glance.ts";
import { formatState, parseState } from "./state.ts";
import { dayOf } from "./times.ts";

/** One for all views. It stays open while the view behind it is renewed. */
const dialog = element("dialog", { attributes: { "aria-label": "the whole record" } });

/** Shows all fields of an entry; explains a record in words, with what it cost, line by line. */
export function showRecord(entry: FeedEntry | RunningRequest): void {
  const cost = element("div", { attributes: { "aria-live": "polite" } });
  const amount = element("span");
  const isEnded = "outcome" in entry;
  const sentences = isEnded
    ? explainRecord(entry).map((sentence) => element("li", {}, ...withCommand(sentence)))
    : [];
  dialog.replaceChildren(
    element("button", { class: "close", onclick: () => dialog.close() }, "Close"),
    element("h2", {}, titleOf(entry), amount),
    element("p", { class: "remark" }, describeWhere(entry)),
    // What went nowhere has no figures.
    ...("bytes_out" in entry && !("outcome" in entry && entry.outcome === "rejected")
      ? [recordGlance(entry)]
      : []),
    cost,
    element("ul", { class: "reasons" }, ...sentences),
    ...("session" in entry && entry.session !== null ? [sessionLink(entry.session, entry.ts)] : []),
    element(
      "details",
      {},
      element("summary", {}, "The whole record"),
      element(
        "dl",
        {},
        ...fieldsOf(entry).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]),
      ),
    ),
  );
  if (!dialog.isConnected) document.body.append(dialog);
  dialog.showModal();
  dialog.scrollTop = 0;
  if (isEnded) void showCost(cost, amount, entry);
}

const MOST_TITLE = 100;

/** The model, or whatever else says most of an entry. Names that other programs choose are shortened. */
function titleOf(entry: FeedEntry | RunningRequest): string {
  if ("notice" in entry) return "notice";
  if ("refused" in entry) return "refused";
  return (entry.model ?? entry.model_requested ?? entry.route).slice(0, MOST_TITLE);
}

/** Says in a line who asked, in which project, when, and how it ended. */
function describeWhere(entry: FeedEntry | RunningRequest): string {
  const when = formatMoment(entry.ts);
  if ("notice" in entry) return when;
  const tool = entry.tool ?? "unknown";
  if ("refused" in entry) return `${tool}, ${when}`;
  const { project, branch } = entry;
  const where = project === null ? "" : ` in ${lastPart(project)}`;
  const which = branch === null ? "" : ` on ${branch}`;
  const end = "outcome" in entry ? describeEnd(entry) : "running";
  return [`${tool}${where}${which}`, when, end].join(", ");
}

/** Leads to the other requests of its session. */
function sessionLink(session: string, ts: string): HTMLElement {
  const day = dayOf(new Date(ts));
  const href = formatState({
    ...parseState(location.hash),
    view: "sessions",
    since: day,
    until: dayOf(new Date()),
    filter: { session },
    sort: undefined,
    search: "",
  });
  const link = element("a", { href, onclick: () => dialog.close() }, "All requests of this session");
  return element("p", {}, link);
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
async function showCost(parent: HTMLElement, title: HTMLElement, record: UsageRecord): Promise<void> {
  parent.replaceChildren(element("p", {}, "Cost: …"));
  try {
    const { cost, worth, missed } = await readFeed<RecordCost>("cost", { record: record.id });
    // What spent nothing is worth nothing.
    const isPaidByPlan = worth !== null && worth.from !== "free";
    title.textContent = `, ${describeCost(cost, record)}`;
    parent.replaceChildren(
      costTable(cost, record),
      ...(isPaidByPlan ? [worthTable(worth, record)] : []),
      ...(missed === null ? [] : [element("p", {}, explainMiss(missed))]),
    );
  } catch (error) {
    const reason = error instanceof FeedError ? error.message : "no daemon answers";
    parent.replaceChildren(element("p", {}, `Cost: not known, because ${reason}.`));
  }
}

/** Explains a record in sentences. */
function explainRecord(record: UsageRecord): string[] {
  const { id, tool, tool_by: by, usage, outcome, cut_by: cutBy, error_type: type } = record;
  const who = `The tool was recognized as ${tool} by ${EVIDENCE[by]}.`;
  if (outcome === "rejected")
    return [
      who,
      `The request went nowhere and cost nothing: tollkeeper refused it (${type ?? "for an unknown reason"}).`,
      `To see why, type: tollkeeper explain ${id}`,
    ];
  return [
    who,
    CERTAINTY[usage],
    ...(outcome === "cut"
      ? [`The response was ended early by ${cutBy === null ? "the connection" : CUTTERS[cutBy]}.`]
      : []),
    `To see where it went and why, and what is usual, type: tollkeeper explain ${id}`,
  ];
}
