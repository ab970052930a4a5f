import { CERTAINTY, EVIDENCE } from "../../../core/ledger/explain/record-words.ts";
import type { UsageRecord } from "../../../core/ledger/record.ts";
import type { RunningRequest } from "../../../core/ledger/running-request.ts";
import { isPaidByTool } from "../../../core/plans/names.ts";
import { describeCost } from "./cost.ts";
import { areShortcutsOff } from "./frame/shortcuts.ts";
import { copyable, element, replaceContents, withCommand } from "./elements.ts";
import type { Cost, FeedEntry, Miss, RecordCost, Status } from "./feed-types.ts";
import { FeedError, readFeed } from "./feeds.ts";
import { nameProject } from "./project-names.ts";
import { toneOf } from "./live/live-rows.ts";
import { formatSeconds, momentParts } from "./numbers.ts";
import { costTable, worthTable } from "./record/cost-table.ts";
import { describeEnd, wordsOf } from "./record/ending.ts";
import { explainMiss } from "./record/miss-words.ts";
import { because, budgetsNow, hasFailed, reasonsOf } from "./record/reasons.ts";
import { recordGlance } from "./record/record-glance.ts";
import { formatState, parseState } from "./state.ts";
import { RECORD } from "./table.ts";
import { dayOf } from "./times.ts";

/** One for all views. It stays open while the view behind it is renewed. */
const dialog = element("dialog", { ariaLabel: "the whole record" });

/** The id of what it shows; null for what is in no list. */
let shownId: string | null = null;
/** The keys that go to the next record of the list, and to the one before. */
const STEPS: Readonly<Record<string, Step>> = {
  j: "next",
  ArrowRight: "next",
  k: "previous",
  ArrowLeft: "previous",
};

type Step = "next" | "previous";

addEventListener("keydown", (event) => {
  const step = STEPS[event.key];
  if (step === undefined || !dialog.open || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key.length === 1 && areShortcutsOff()) return;
  event.preventDefault();
  go(step);
});
dialog.addEventListener("close", () => openerOf(shownId)?.focus());

/** The button of the list that opens a record. The list may have been renewed since. */
function openerOf(id: string | null): HTMLElement | null {
  return id === null ? null : document.querySelector<HTMLElement>(`[${RECORD}="${CSS.escape(id)}"]`);
}

/** The button that opens the next record of the same list, or the one before, as the list shows them; null at its end. */
function beside(step: Step): HTMLElement | null {
  const rowAfter = (row: Element | null | undefined) =>
    step === "next" ? row?.nextElementSibling : row?.previousElementSibling;
  let row = rowAfter(openerOf(shownId)?.closest("tr"));
  while (row?.className === "day") row = rowAfter(row);
  return row?.querySelector<HTMLElement>(`[${RECORD}]`) ?? null;
}

function go(step: Step): void {
  beside(step)?.click();
}

function stepButton(step: Step, sign: string): HTMLElement {
  const button = element("button", { onclick: () => go(step), ariaLabel: `${step} request` }, sign);
  button.disabled = beside(step) === null;
  return button;
}

/** Shows an entry: what it cost, how it ended and why, its figures, and all its fields. */
export function showRecord(entry: FeedEntry | RunningRequest): void {
  const amount = element("span");
  const cost = element("div", { ariaLive: "polite" });
  const why = element("ul", { class: "reasons" });
  const glance = "bytes_out" in entry ? recordGlance(entry) : null;
  shownId = "id" in entry ? entry.id : null;
  replaceContents(
    dialog,
    element(
      "div",
      { class: "head" },
      element(
        "div",
        { class: "steps" },
        stepButton("previous", "‹"),
        stepButton("next", "›"),
        element("button", { class: "close", onclick: () => dialog.close() }, "Close"),
      ),
      element("h2", {}, element("span", {}, titleOf(entry)), amount, ...endOf(entry)),
    ),
    element("p", { class: "remark" }, describeWhere(entry, glance !== null)),
    why,
    ...(glance === null ? [] : [glance]),
    cost,
    ...("session" in entry && entry.session !== null ? [sessionLink(entry.session, entry.ts)] : []),
    ...("outcome" in entry
      ? [
          element(
            "div",
            { class: "remark" },
            "Where it went and why, and what is usual: ",
            copyable(`tollkeeper explain ${entry.id}`),
          ),
        ]
      : []),
    element("details", {}, element("summary", {}, "The whole record"), ...remarksOf(entry), listOf(entry)),
  );
  if (!dialog.isConnected) document.body.append(dialog);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  if ("refused" in entry) say(why, [`tollkeeper refused the request${because(entry.refused)}.`]);
  if (!("outcome" in entry)) return;
  say(why, reasonsOf(entry));
  if (entry.outcome === "rejected" && entry.error_type === "budget_spent") void showBudgets(why, entry);
  if (!hasFailed(entry)) void showCost({ cost, amount, why }, entry);
}

function say(list: HTMLElement, sentences: readonly string[]): void {
  list.append(...sentences.map((sentence) => element("li", {}, ...withCommand(sentence))));
}

/** Names the budgets that may have refused it: a record does not say which one did. */
async function showBudgets(list: HTMLElement, record: UsageRecord): Promise<void> {
  const status = await readFeed<Status>("status").catch(() => null);
  if (status !== null) say(list, budgetsNow(record, status));
}

/** How it ended, where that is not as usual. */
function endOf(entry: FeedEntry | RunningRequest): HTMLElement[] {
  if ("notice" in entry) return [];
  if ("refused" in entry) return [badge("failure", `refused: ${wordsOf(entry.refused)}`)];
  if (!("outcome" in entry)) return [badge("good", "running")];
  return entry.outcome === "completed" ? [] : [badge(toneOf(entry), describeEnd(entry))];
}

function badge(tone: string, text: string): HTMLElement {
  return element("span", { class: `badge of-${tone}` }, text);
}

const MOST_TITLE = 100;
/** Shorter than that is no time worth saying. */
const LEAST_MS = 100;

/** The model, or whatever else says most of an entry. Names that other programs choose are shortened. */
function titleOf(entry: FeedEntry | RunningRequest): string {
  if ("notice" in entry) return "notice";
  if ("refused" in entry) return `${entry.method} ${entry.path}`.slice(0, MOST_TITLE);
  return (entry.model ?? entry.model_requested ?? entry.route).slice(0, MOST_TITLE);
}

/** Says in a line who asked, in which project, and when; without figures beneath, also how long it took. */
function describeWhere(entry: FeedEntry | RunningRequest, hasFigures: boolean): string {
  const [day, time] = momentParts(entry.ts);
  const when = `${day || "today, "}${time}`;
  if ("notice" in entry) return when;
  const tool = entry.tool ?? "unknown";
  if ("refused" in entry) return `${tool}, ${when}`;
  const { project, branch, duration_ms: took } = entry;
  const where = project === null ? "" : ` in ${nameProject(project)}`;
  const which = branch === null ? "" : ` on ${branch}`;
  const isDone = "outcome" in entry && entry.outcome === "completed";
  return [
    `${tool}${where}${which}`,
    when,
    ...(isDone ? ["completed"] : []),
    ...(hasFigures || took < LEAST_MS ? [] : [`took ${formatSeconds(took)}`]),
  ].join(", ");
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

function listOf(entry: object): HTMLElement {
  const fields = fieldsOf(entry).flatMap(([name, value]) => [
    element("dt", {}, name),
    element("dd", {}, value),
  ]);
  return element("dl", {}, ...fields);
}

/** What is of interest where something is not as expected. */
function remarksOf(entry: FeedEntry | RunningRequest): HTMLElement[] {
  if (!("outcome" in entry)) return [];
  const { tool, tool_by: by, usage } = entry;
  return [
    `The tool was recognized as ${tool} by ${EVIDENCE[by]}.`,
    ...(usage === "final" ? [CERTAINTY.final] : []),
  ].map((text) => element("p", { class: "remark" }, text));
}

/** Where the parts of a record are, of which not all may be known at once. */
interface Places {
  cost: HTMLElement;
  amount: HTMLElement;
  why: HTMLElement;
}

/** Shows what a request cost, and why it missed the cache: at once where its row says it. No row says what a plan's request is worth. */
async function showCost(
  { cost: parent, amount: title, why }: Places,
  record: UsageRecord & { cost?: Cost; missed?: Miss | null },
): Promise<void> {
  const draw = ({ cost, worth, missed }: RecordCost) => {
    // What spent nothing is worth nothing.
    const isPaidByPlan = worth !== null && worth.from !== "free";
    title.textContent = describeCost(cost, record);
    parent.className = "";
    parent.replaceChildren(costTable(cost, record), ...(isPaidByPlan ? [worthTable(worth, record)] : []));
    if (missed !== null && why.dataset["missed"] === undefined) {
      why.dataset["missed"] = "";
      why.prepend(element("li", {}, explainMiss(missed)));
    }
  };
  const { cost: known, missed } = record;
  const isMissKnown = record.miss === null || missed !== undefined;
  if (known !== undefined) draw({ cost: known, worth: null, missed: missed ?? null });
  if (known !== undefined && isMissKnown && !isPaidByTool(record.upstream)) return;
  if (known === undefined) {
    // Keeps the place of a table.
    parent.className = "waiting";
    parent.replaceChildren(element("p", {}, "Cost: …"));
  }
  try {
    draw(await readFeed<RecordCost>("cost", { record: record.id }));
  } catch (error) {
    const reason = error instanceof FeedError ? error.message : "no daemon answers";
    parent.replaceChildren(element("p", {}, `Cost: not known, because ${reason}.`));
  }
}
