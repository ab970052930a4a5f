import { element, replaceContents } from "./elements.ts";
import type { Status } from "./feed-types.ts";
import { readFeed } from "./feeds.ts";
import { formatCount, formatDollars, formatTime } from "./numbers.ts";

/** Says in words whether everything that a request needs is there. Never shows a key. */
export async function renderHealth(parent: HTMLElement, signal: AbortSignal): Promise<void> {
  const status = await readFeed<Status>("status", {}, signal);
  if (signal.aborted) return;
  replaceContents(
    parent,
    part("Daemon", [
      `tollkeeper ${status.version}, ${status.state}, since ${formatTime(status.started_at)}`,
      `listens on ${status.listening.join(" and ")}`,
      ...(status.last_error === null
        ? []
        : [`last warning or error: ${status.last_error.message} (${formatTime(status.last_error.at)})`]),
    ]),
    ...status.upstreams.map((upstream) => part(`Upstream ${upstream.name}`, upstreamLines(upstream))),
    ...(status.budgets.length === 0 ? [] : [budgets(status)]),
    part("Keys", status.keys.map(keyLine)),
    part("Configuration", [
      `${status.config.path}, in force since ${formatTime(status.config.loaded_at)}`,
      ...status.config.problems.map(({ path, message }) => `not accepted: ${path} ${message}`),
      ...status.config.overruled.map(({ path, message }) => `${path} ${message}`),
    ]),
    part("Ledger", ledgerLines(status.ledger)),
    part("Refused since the start", refusedLines(status.refused.codes)),
  );
}

function part(title: string, lines: readonly string[]): HTMLElement {
  const items = lines.map((line) => element("li", {}, line));
  return element("section", { class: "part" }, element("h2", {}, title), element("ul", {}, ...items));
}

function budgets({ budgets: all, lifts }: Status): HTMLElement {
  const items = all.map((budget) => {
    const bar = element("progress", {
      attributes: { max: "100", value: String(budget.percent), "aria-label": budget.id },
    });
    return element("li", {}, bar, ` ${budgetLine(budget)}`);
  });
  const lifted = lifts.map(({ tool, until }) =>
    element("li", {}, `lifted for ${tool ?? "all tools"} until ${formatTime(until)}`),
  );
  return element(
    "section",
    { class: "part" },
    element("h2", {}, "Budgets"),
    element("ul", {}, ...items, ...lifted),
  );
}

function budgetLine({
  id,
  limit,
  percent,
  spent,
  amount,
  action,
  until,
  spent_at: spentAt,
}: Status["budgets"][number]): string {
  const format = "usd" in limit ? formatDollars : formatCount;
  return [
    `${id}: ${percent}% spent, ${format(Number(spent))} of ${format(Number(amount))}${action === "warn" ? ", only warns" : ""}`,
    `starts over ${formatTime(until)}`,
    ...(percent >= 100 && action === "refuse" ? ["to let requests go on, type: tollkeeper budget lift"] : []),
    ...(spentAt === null || percent >= 100 ? [] : [`spent at this rate by ${formatTime(spentAt)}`]),
  ].join("; ");
}

function upstreamLines(upstream: Status["upstreams"][number]): string[] {
  const {
    base_url: url,
    is_sandbox: isSandbox,
    last_exchange: last,
    last_failure: failure,
    worked_at: worked,
  } = upstream;
  return [
    isSandbox ? "built-in sandbox: responses are made up" : url,
    last === null ? "no request yet" : `last request: ${last.outcome}, ${formatTime(last.at)}`,
    ...(failure === null ? [] : [`last failure: ${failure.reason}, ${formatTime(failure.at)}`]),
    ...(failure === null || worked === null ? [] : [`it last worked ${formatTime(worked)}`]),
    ...(upstream.cooldown_ms === null
      ? []
      : ["skipped after repeated failures: requests go to its fallback"]),
  ];
}

function keyLine({ name, upstream, source, state, problem }: Status["keys"][number]): string {
  const found = state === "not_asked" ? "not asked yet" : state;
  return `${name} for ${upstream}: ${found} (${source})${problem === null ? "" : `: ${problem}`}`;
}

function ledgerLines({ directory, written, waiting, lost, last_error: error }: Status["ledger"]): string[] {
  return [
    `${directory}, ${formatCount(written)} written since the start`,
    ...(waiting + lost === 0
      ? []
      : [`${formatCount(waiting)} waiting, ${formatCount(lost)} lost: ${error ?? "unknown"}`]),
  ];
}

function refusedLines(codes: Readonly<Record<string, number>>): string[] {
  const counts = Object.entries(codes);
  return counts.length === 0 ? ["nothing"] : counts.map(([code, count]) => `${code}: ${formatCount(count)}`);
}
