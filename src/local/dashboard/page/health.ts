import { element, replaceContents, withCopiedCommand } from "./elements.ts";
import type { Limits, Status, UsageReport } from "./feed-types.ts";
import { FeedError, readFeed } from "./feeds.ts";
import { isUnused, verdictOf, type Finding } from "./health/verdict.ts";
import { budgetMeters, unpricedHints } from "./meters/budget-meters.ts";
import { limitMeters } from "./meters/limit-meters.ts";
import { meterItem } from "./meters/meter-item.ts";
import type { Meter } from "./meters/meter.ts";
import { formatBytes, formatCount, formatNear } from "./numbers.ts";
import { wordsOf } from "./record/ending.ts";
import type { RowTone } from "./table.ts";
import { TIME_ZONE } from "./times.ts";

/** A sentence, and whether something is wrong. */
interface Line {
  /** What the sentence and those that follow are about. */
  name?: string;
  text: string;
  tone?: RowTone;
  /** What is wrong, in few words, for the headline; without it, another line says it. */
  finding?: string;
  /** What to do about it, with its command at the end. */
  remedy?: string;
  /** Whether what it names is known to work. */
  mark?: "good" | "idle";
  /** True for a path, of which the end says most. */
  isPath?: boolean;
}

/** What takes a moment to read: who used the windows, and how many lines of the ledger cannot be read. */
interface Slow {
  moved: Limits | null;
  unreadable: number;
}

/** As it was read last, so that it does not come and go while the view is renewed. */
let slow: Slow = { moved: null, unreadable: 0 };
/** The days whose lines are looked at. The command looks at all. */
const LOOKED_AT = "30d";

/** Says in words whether everything that a request needs is there. Never shows a key. */
export async function renderHealth(parent: HTMLElement, signal: AbortSignal): Promise<void> {
  const status = await readFeed<Status>("status", {}, signal);
  if (signal.aborted) return;
  showHealth(parent, status);
  const question = { by: "tool", since: LOOKED_AT, timezone: TIME_ZONE };
  const [moved, usage] = await Promise.all([
    status.limits.length === 0 ? null : readFeed<Limits>("limits", {}, signal).catch(withoutAnswer),
    readFeed<UsageReport>("usage", question, signal).catch(withoutAnswer),
  ]);
  if (signal.aborted) return;
  const known = { moved, unreadable: usage?.unreadable_lines ?? slow.unreadable };
  if (JSON.stringify(known) === JSON.stringify(slow)) return;
  slow = known;
  showHealth(parent, status);
}

/** The rest is known without it. */
function withoutAnswer(error: unknown): null {
  if (error instanceof FeedError) return null;
  throw error;
}

function showHealth(parent: HTMLElement, status: Status): void {
  const parts = [
    ...budgets(status),
    ...metersPart("Limits of the services", limitMeters(status, slow.moved)),
    upstreamsPart(status.upstreams),
    ...(status.keys.length === 0 ? [] : [part("Keys", status.keys.flatMap(keyLines))]),
    ...(status.budgets.length === 0 ? [noBudget()] : []),
    part("Daemon", daemonLines(status)),
    part("Configuration", configLines(status.config)),
    part("Ledger and disk", ledgerLines(status.ledger, slow.unreadable)),
    refusedPart(status.refused.codes),
  ];
  // What is wrong comes first; the order stays otherwise.
  const sorted = parts.toSorted((one, other) => TONES.indexOf(one.tone) - TONES.indexOf(other.tone));
  const columns = element("div", { class: "parts" }, element("div"), element("div"));
  const verdict = verdictOf(
    sorted.flatMap((one) => one.findings),
    status.upstreams,
  );
  const unknown = status.upstreams.every(isUnused) ? "idle" : "good";
  const worst = worstOf(parts.map(({ tone }) => tone)) || unknown;
  replaceContents(parent, element("p", { class: `verdict-line of-${worst}` }, verdict), columns);
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
  return { title: "Budgets", contents, tone: "", findings: [], isIdle: true };
}

/** The worst first. */
const TONES: readonly RowTone[] = ["failure", "warning", ""];

/** A section of the page, and the worst of what it says. */
interface Part {
  title: string;
  contents: HTMLElement;
  tone: RowTone;
  /** What is wrong, for the headline. */
  findings: readonly Finding[];
  /** What stands beside its title; usual: whether all is well. */
  said?: string;
  /** Whether there is nothing to judge. */
  isIdle: boolean;
}

function worstOf(tones: readonly RowTone[]): RowTone {
  return TONES.find((tone) => tones.includes(tone)) ?? "";
}

function part(title: string, lines: readonly Line[], isIdle = false): Part {
  const items = lines.map(({ name, text, isPath = false, tone = "", mark = "", remedy = "" }) =>
    element(
      "li",
      { class: isPath ? "path" : `${tone} ${mark}`.trim(), ...(isPath && { title: text }) },
      name === undefined ? null : element("strong", {}, name),
      isPath ? element("bdi", {}, text) : text,
      ...withCopiedCommand(remedy),
    ),
  );
  const findings = lines.flatMap(({ tone = "", finding = "" }) => findingsOf(tone, finding));
  const worst = worstOf(lines.map(({ tone = "" }) => tone));
  return { title, contents: element("ul", {}, ...items), tone: worst, findings, isIdle };
}

function findingsOf(tone: RowTone, text: string): Finding[] {
  return tone === "" || text === "" ? [] : [{ tone, text }];
}

/** A phone has room for what is not well, and for the names of the others. */
const PHONE = matchMedia("(width < 32rem)");
/** The parts that a person has opened; they stay open while the view is renewed. */
const opened = new Set<string>();

function section({ title, contents, tone, isIdle, said }: Part): HTMLElement {
  const state = tone || (isIdle ? "idle" : "good");
  const isSaid = state === "good" && said !== undefined;
  const heading = element("h2", isSaid ? { attributes: { "data-said": said } } : {}, title);
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
      ...(state !== "serving" && { tone: "failure", finding: `tollkeeper is ${state}` }),
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
            finding: `the daemon warned at ${formatNear(last.at)}`,
          } as const,
        ]),
  ];
}

/** Many of which nothing is known yet are a line, which opens. */
function upstreamsPart(upstreams: Status["upstreams"]): Part {
  const areUnused = upstreams.every(isUnused);
  const areMany = areUnused && upstreams.length > 1;
  const lines = upstreams.flatMap((upstream) => upstreamLines(upstream).slice(0, areMany ? 1 : undefined));
  const used = upstreams.filter((upstream) => !isUnused(upstream)).length;
  const said =
    used === upstreams.length
      ? {}
      : { said: `${formatCount(used)} of ${formatCount(upstreams.length)} used` };
  const all = { ...part("Upstreams", lines, areUnused), ...said };
  if (!areMany) return all;
  const count = element("span", {}, `${formatCount(upstreams.length)} upstreams, none asked yet`);
  return { ...all, contents: folded("upstreams", count, all.contents) };
}

function upstreamLines(upstream: Status["upstreams"][number]): Line[] {
  const { name, base_url: url, is_sandbox: isSandbox, last_exchange: last, last_failure: failure } = upstream;
  const { worked_at: worked, cooldown_ms: cooldown, failing } = upstream;
  const known = worked === null ? { mark: "idle" as const } : { mark: "good" as const };
  const isWell = failing === null && cooldown === null;
  return [
    isSandbox
      ? {
          name,
          text: "Built-in sandbox: responses are made up",
          tone: "warning",
          finding: "the sandbox makes up responses",
        }
      : { name, text: url, ...(isWell && known) },
    { text: describeWorked(worked, last !== null) },
    ...(failure === null ? [] : [failureLine(name, failing, failure)]),
    ...(cooldown === null
      ? []
      : [
          {
            text: "Skipped after repeated failures: requests go to its fallback",
            tone: "warning",
            // Where it fails, that is said already.
            ...(failing === null && { finding: `upstream ${name} is skipped` }),
          } as const,
        ]),
  ];
}

function describeWorked(worked: string | null, hasRequests: boolean): string {
  if (worked !== null) return `Last worked ${formatNear(worked)}`;
  return hasRequests ? "Has not worked since the daemon started" : "No request has ended yet";
}

function failureLine(
  name: string,
  failing: Status["upstreams"][number]["failing"],
  { at, reason }: { at: string; reason: string },
): Line {
  if (failing === null) return { text: `Last failure: ${reason} (${formatNear(at)})` };
  return {
    text: `Fails: ${failing.summary} (${formatNear(at)})`,
    tone: "failure",
    finding: `upstream ${name} fails`,
  };
}

function budgets(status: Status): Part[] {
  const lifted = status.lifts.map(({ tool, until }) =>
    element("li", { class: "warning" }, `Lifted for ${tool ?? "all tools"} until ${formatNear(until)}`),
  );
  const meters = budgetMeters(status).toSorted((one, other) => other.percent - one.percent);
  const unpriced = unpricedHints(status.budgets).map((hint) =>
    element("li", { class: "hint" }, ...withCopiedCommand(hint)),
  );
  return metersPart("Budgets", meters, [...lifted, ...unpriced]);
}

function metersPart(title: string, meters: readonly Meter[], others: readonly HTMLElement[] = []): Part[] {
  if (meters.length + others.length === 0) return [];
  const contents = element("ul", {}, ...meters.map(meterWithMovers), ...others);
  const findings = meters.flatMap(({ tone, finding }) => findingsOf(tone, finding));
  return [{ title, contents, tone: worstOf(meters.map(({ tone }) => tone)), findings, isIdle: false }];
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
      : {
          name: whose,
          text: `${found}: ${problem}`,
          tone: "failure",
          finding: `the key of ${whose} ${state === "present" ? "has a problem" : `is ${found}`}`,
        },
    { text: source, isPath: true },
    ...(end === null ? [] : [{ text: describeEnd(name, end) }]),
    ...(failed === null
      ? []
      : [
          {
            text: `${name} could not be refreshed: ${failed.problem} (${formatNear(failed.at)})`,
            tone: "warning",
            finding: `${name} could not be refreshed`,
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
      ({ path: where, message }) =>
        ({
          text: `Not accepted: ${where} ${message}`,
          tone: "failure",
          finding: "the configuration is not accepted",
        }) as const,
    ),
    ...overruled.map(({ path: where, message }) => ({ text: `${where} ${message}` })),
  ];
}

function ledgerLines(ledger: Status["ledger"], unreadable: number): Line[] {
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
            finding: "records cannot be written",
          } as const,
        ]),
    ...(unreadable === 0
      ? []
      : [unreadableLine(`${formatCount(unreadable)} ${unreadable === 1 ? "line" : "lines"}`)]),
  ];
}

function unreadableLine(lines: string): Line {
  return {
    text: `${lines} of the last 30 days cannot be read and count nowhere. `,
    tone: "warning",
    finding: `${lines} of the ledger cannot be read`,
    remedy: "To see why, type: tollkeeper ledger verify",
  };
}

function refusedPart(codes: Readonly<Record<string, number>>): Part {
  const counts = Object.entries(codes).toSorted(([, one], [, other]) => other - one);
  const lines = counts.map(([code, count]) => ({
    text: `${formatCount(count)} ${count === 1 ? "request" : "requests"}: ${wordsOf(code)}`,
  }));
  return part(`Refused since the start${lines.length === 0 ? ": none" : ""}`, lines, true);
}
