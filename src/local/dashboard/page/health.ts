import { element, replaceContents, withCopiedCommand } from "./elements.ts";
import type { Limits, Status } from "./feed-types.ts";
import { FeedError, readFeed } from "./feeds.ts";
import { isUnused, verdictOf } from "./health/verdict.ts";
import { budgetMeters } from "./meters/budget-meters.ts";
import { limitMeters } from "./meters/limit-meters.ts";
import { meterItem } from "./meters/meter-item.ts";
import type { Meter } from "./meters/meter.ts";
import { formatBytes, formatCount, formatNear } from "./numbers.ts";
import { wordsOf } from "./record/ending.ts";
import type { RowTone } from "./table.ts";

/** A sentence, and whether something is wrong. */
interface Line {
  /** What the sentence and those that follow are about. */
  name?: string;
  text: string;
  tone?: RowTone;
  /** True for a path, of which the end says most. */
  isPath?: boolean;
}

/** Says in words whether everything that a request needs is there. Never shows a key. */
export async function renderHealth(parent: HTMLElement, signal: AbortSignal): Promise<void> {
  const status = await readFeed<Status>("status", {}, signal);
  if (signal.aborted) return;
  showHealth(parent, status, null);
  if (status.limits.length === 0) return;
  // Who used the windows is in the ledger, which takes a moment to read.
  const moved = await readFeed<Limits>("limits", {}, signal).catch(withoutAnswer);
  if (!signal.aborted && moved !== null) showHealth(parent, status, moved);
}

/** The windows are known without it. */
function withoutAnswer(error: unknown): null {
  if (error instanceof FeedError) return null;
  throw error;
}

function showHealth(parent: HTMLElement, status: Status, moved: Limits | null): void {
  const parts = [
    ...budgets(status),
    ...metersPart("Limits of the services", limitMeters(status, moved)),
    upstreamsPart(status.upstreams),
    ...(status.keys.length === 0 ? [] : [part("Keys", status.keys.flatMap(keyLines))]),
    ...(status.budgets.length === 0 ? [noBudget()] : []),
    part("Daemon", daemonLines(status)),
    part("Configuration", configLines(status.config)),
    part("Ledger and disk", ledgerLines(status.ledger)),
    refusedPart(status.refused.codes),
  ];
  // What is wrong comes first; the order stays otherwise.
  const sorted = parts.toSorted((one, other) => TONES.indexOf(one.tone) - TONES.indexOf(other.tone));
  const columns = element("div", { class: "parts" }, element("div"), element("div"));
  const tones = parts.flatMap((one) => one.tones);
  const verdict = verdictOf(tones, status.upstreams);
  replaceContents(parent, element("p", { class: "verdict-line" }, verdict), columns);
  for (const one of sorted) shortest([...columns.children]).append(section(one));
}

/** Of the columns that are shown: a narrow window has one. */
function shortest(columns: readonly Element[]): Element {
  const [first, second] = columns as [HTMLElement, HTMLElement];
  return second.offsetParent !== null && second.offsetHeight < first.offsetHeight ? second : first;
}

/** How to set a budget, where there is none. */
function noBudget(): Part {
  const hint = "None is set. To set one, type: tollkeeper budget set --all --usd 20 --per day";
  const contents = element("div", {}, ...withCopiedCommand(hint));
  return { title: "Budgets", contents, tone: "", tones: [], isIdle: true };
}

/** The worst first. */
const TONES: readonly RowTone[] = ["failure", "warning", ""];

/** A section of the page, and the worst of what it says. */
interface Part {
  title: string;
  contents: HTMLElement;
  tone: RowTone;
  /** Of each thing that it says. */
  tones: readonly RowTone[];
  /** Whether there is nothing to judge. */
  isIdle: boolean;
}

function worstOf(tones: readonly RowTone[]): RowTone {
  return TONES.find((tone) => tones.includes(tone)) ?? "";
}

function part(title: string, lines: readonly Line[], isIdle = false): Part {
  const items = lines.map(({ name, text, isPath = false, tone = "" }) =>
    element(
      "li",
      { class: isPath ? "path" : tone, ...(isPath && { title: text }) },
      name === undefined ? null : element("strong", {}, name),
      isPath ? element("bdi", {}, text) : text,
    ),
  );
  const tones = lines.map(({ tone = "" }) => tone);
  return { title, contents: element("ul", {}, ...items), tone: worstOf(tones), tones, isIdle };
}

/** A phone has room for what is not well, and for the names of the others. */
const PHONE = matchMedia("(width < 32rem)");
/** The parts that a person has opened; they stay open while the view is renewed. */
const opened = new Set<string>();

function section({ title, contents, tone, isIdle }: Part): HTMLElement {
  const state = tone || (isIdle ? "idle" : "good");
  const heading = element("h2", {}, title);
  const isFolded = state === "good" && PHONE.matches;
  return element(
    "section",
    { class: `part of-${state}` },
    ...(isFolded ? [folded(title, heading, contents)] : [heading, contents]),
  );
}

function folded(title: string, heading: HTMLElement, contents: HTMLElement): HTMLElement {
  const details = element("details", {}, element("summary", {}, heading), contents);
  details.open = opened.has(title);
  details.addEventListener("toggle", () => {
    if (details.open) opened.add(title);
    else opened.delete(title);
  });
  return details;
}

function daemonLines({
  version,
  state,
  started_at: start,
  listening,
  last_error: last,
  config,
  ...rest
}: Status): Line[] {
  // What was said of an earlier configuration may no longer be true, and budgets have bars.
  const isOld = last !== null && Date.parse(last.at) < Date.parse(config.loaded_at);
  const isSaid = isOld || (rest.budgets.length > 0 && /\bbudget\b/.test(last?.message ?? ""));
  return [
    {
      text: `tollkeeper ${version} is ${state}, since ${formatNear(start)}`,
      ...(state !== "serving" && { tone: "failure" }),
    },
    { text: `Listens on ${listening.join(" and ")}` },
    {
      text: `${formatCount(rest.open_exchanges)} ${rest.open_exchanges === 1 ? "request is" : "requests are"} running`,
    },
    ...(last === null || isSaid
      ? []
      : [
          {
            text: `Last warning or error: ${last.message} (${formatNear(last.at)})`,
            tone: "warning",
          } as const,
        ]),
  ];
}

/** Many of which nothing is known yet are a line, which opens. */
function upstreamsPart(upstreams: Status["upstreams"]): Part {
  const areUnused = upstreams.every(isUnused);
  const areMany = areUnused && upstreams.length > 1;
  const lines = upstreams.flatMap((upstream) => upstreamLines(upstream).slice(0, areMany ? 1 : undefined));
  const all = part("Upstreams", lines, areUnused);
  if (!areMany) return all;
  const count = element("span", {}, `${formatCount(upstreams.length)} upstreams, none asked yet`);
  return { ...all, contents: folded("upstreams", count, all.contents) };
}

function upstreamLines(upstream: Status["upstreams"][number]): Line[] {
  const { name, base_url: url, is_sandbox: isSandbox, last_exchange: last, last_failure: failure } = upstream;
  const { worked_at: worked, cooldown_ms: cooldown, failing } = upstream;
  return [
    isSandbox
      ? { name, text: "Built-in sandbox: responses are made up", tone: "warning" }
      : { name, text: url },
    { text: describeWorked(worked, last !== null) },
    ...(failure === null ? [] : [failureLine(failing, failure)]),
    ...(cooldown === null
      ? []
      : [{ text: "Skipped after repeated failures: requests go to its fallback", tone: "warning" } as const]),
  ];
}

function describeWorked(worked: string | null, hasRequests: boolean): string {
  if (worked !== null) return `Last worked ${formatNear(worked)}`;
  return hasRequests ? "Has not worked since the daemon started" : "No request has ended yet";
}

function failureLine(
  failing: Status["upstreams"][number]["failing"],
  { at, reason }: { at: string; reason: string },
): Line {
  if (failing === null) return { text: `Last failure: ${reason} (${formatNear(at)})` };
  return { text: `Fails: ${failing.summary} (${formatNear(at)})`, tone: "failure" };
}

function budgets(status: Status): Part[] {
  const lifted = status.lifts.map(({ tool, until }) =>
    element("li", { class: "warning" }, `Lifted for ${tool ?? "all tools"} until ${formatNear(until)}`),
  );
  const meters = budgetMeters(status).toSorted((one, other) => other.percent - one.percent);
  return metersPart("Budgets", meters, lifted);
}

function metersPart(title: string, meters: readonly Meter[], others: readonly HTMLElement[] = []): Part[] {
  if (meters.length + others.length === 0) return [];
  const contents = element("ul", {}, ...meters.map(meterWithMovers), ...others);
  const tones = meters.map(({ tone }) => tone);
  return [{ title, contents, tone: worstOf(tones), tones, isIdle: false }];
}

function meterWithMovers(meter: Meter): HTMLElement {
  const item = meterItem(meter, [meter.next, ...meter.more]);
  if (meter.movers !== "") item.append(element("small", {}, meter.movers));
  return item;
}

/** A token that could not be refreshed still serves until it expires. */
function keyLines({
  name,
  upstream,
  source,
  state,
  problem,
  expires_at: end,
  refresh_failure: failed,
}: Status["keys"][number]): Line[] {
  const found = { present: "stored", not_asked: "not needed yet" }[state] ?? state.replaceAll("_", " ");
  const whose = name === upstream || name === "default" ? upstream : `${upstream} (${name})`;
  return [
    problem === null
      ? { name: whose, text: found }
      : { name: whose, text: `${found}: ${problem}`, tone: "failure" },
    { text: source, isPath: true },
    ...(end === null ? [] : [{ text: describeEnd(name, end) }]),
    ...(failed === null
      ? []
      : [
          {
            text: `${name} could not be refreshed: ${failed.problem} (${formatNear(failed.at)})`,
            tone: "warning",
          } as const,
        ]),
  ];
}

function describeEnd(name: string, end: string): string {
  const verb = Date.parse(end) > Date.now() ? "expires" : "expired";
  return `${name} ${verb} ${formatNear(end)}`;
}

function configLines({ path, loaded_at: loaded, problems, overruled }: Status["config"]): Line[] {
  return [
    { text: path, isPath: true },
    { text: `In force since ${formatNear(loaded)}` },
    ...problems.map(
      ({ path: where, message }) => ({ text: `Not accepted: ${where} ${message}`, tone: "failure" }) as const,
    ),
    ...overruled.map(({ path: where, message }) => ({ text: `${where} ${message}` })),
  ];
}

function ledgerLines(ledger: Status["ledger"]): Line[] {
  const { directory, written, waiting, lost, last_error: error, free_bytes: free } = ledger;
  return [
    { text: directory, isPath: true },
    { text: `${formatCount(written)} records written since the start` },
    ...(free === null ? [] : [{ text: `${formatBytes(free)} free on the disk` }]),
    ...(waiting + lost === 0
      ? []
      : [
          {
            text: `${formatCount(waiting)} records wait, ${formatCount(lost)} are lost: ${error ?? "unknown"}`,
            tone: "failure",
          } as const,
        ]),
  ];
}

function refusedPart(codes: Readonly<Record<string, number>>): Part {
  const counts = Object.entries(codes).toSorted(([, one], [, other]) => other - one);
  const lines = counts.map(([code, count]) => ({
    text: `${formatCount(count)} ${count === 1 ? "request" : "requests"}: ${wordsOf(code)}`,
  }));
  return part(`Refused since the start${lines.length === 0 ? ": none" : ""}`, lines, true);
}
