import { element, replaceContents } from "./elements.ts";
import type { Status } from "./feed-types.ts";
import { readFeed } from "./feeds.ts";
import { formatBytes, formatCount, formatDollars, formatTime } from "./numbers.ts";
import type { RowTone } from "./table.ts";

/** A sentence, and whether something is wrong. */
interface Line {
  text: string;
  tone?: RowTone;
}

/** Says in words whether everything that a request needs is there. Never shows a key. */
export async function renderHealth(parent: HTMLElement, signal: AbortSignal): Promise<void> {
  const status = await readFeed<Status>("status", {}, signal);
  if (signal.aborted) return;
  const parts = [
    part("Daemon", daemonLines(status)),
    ...status.upstreams.map((upstream) => part(`Upstream ${upstream.name}`, upstreamLines(upstream))),
    ...(status.budgets.length === 0 ? [] : [budgets(status)]),
    ...(status.keys.length === 0 ? [] : [part("Keys", status.keys.map(keyLine))]),
    part("Configuration", configLines(status.config)),
    part("Ledger and disk", ledgerLines(status.ledger)),
    part("Refused since the start", refusedLines(status.refused.codes)),
  ];
  replaceContents(parent, element("div", { class: "parts" }, ...parts));
}

function part(title: string, lines: readonly Line[]): HTMLElement {
  const items = lines.map(({ text, tone = "" }) => element("li", { class: tone }, text));
  return element("section", { class: "part" }, element("h2", {}, title), element("ul", {}, ...items));
}

function daemonLines({
  version,
  state,
  started_at: start,
  listening,
  last_error: last,
  ...rest
}: Status): Line[] {
  return [
    {
      text: `tollkeeper ${version} is ${state}, since ${formatTime(start)}`,
      ...(state !== "serving" && { tone: "failure" }),
    },
    { text: `Listens on ${listening.join(" and ")}` },
    { text: `${formatCount(rest.open_exchanges)} requests are running` },
    ...(last === null
      ? []
      : [
          {
            text: `Last warning or error: ${last.message} (${formatTime(last.at)})`,
            tone: "warning",
          } as const,
        ]),
  ];
}

function upstreamLines(upstream: Status["upstreams"][number]): Line[] {
  const { base_url: url, is_sandbox: isSandbox, last_exchange: last, last_failure: failure } = upstream;
  const { worked_at: worked, cooldown_ms: cooldown, failing } = upstream;
  return [
    isSandbox ? { text: "Built-in sandbox: responses are made up", tone: "warning" } : { text: url },
    {
      text: worked === null ? "Has not worked since the daemon started" : `Last worked ${formatTime(worked)}`,
    },
    ...(last === null ? [{ text: "No request yet" }] : []),
    ...(failure === null ? [] : [failureLine(failing, failure)]),
    ...(cooldown === null
      ? []
      : [{ text: "Skipped after repeated failures: requests go to its fallback", tone: "warning" } as const]),
  ];
}

function failureLine(
  failing: Status["upstreams"][number]["failing"],
  { at, reason }: { at: string; reason: string },
): Line {
  if (failing === null) return { text: `Last failure: ${reason} (${formatTime(at)})` };
  return { text: `Fails: ${failing.summary} (${formatTime(at)})`, tone: "failure" };
}

function budgets({ budgets: all, lifts }: Status): HTMLElement {
  const lifted = lifts.map(({ tool, until }) =>
    element("li", { class: "warning" }, `Lifted for ${tool ?? "all tools"} until ${formatTime(until)}`),
  );
  return element(
    "section",
    { class: "part" },
    element("h2", {}, "Budgets"),
    element("ul", {}, ...all.map(budgetItem), ...lifted),
  );
}

/** As many models without a price as are named. */
const MOST_MODELS = 3;

function budgetItem(budget: Status["budgets"][number]): HTMLElement {
  const { id, limit, percent, spent, amount } = budget;
  const format = "usd" in limit ? formatDollars : formatCount;
  // Only nothing is 0 %.
  const share = percent === 0 && Number(spent) > 0 ? "<1" : percent;
  const bar = element("progress", {
    attributes: { max: "100", value: String(percent), "aria-label": `${id}, percent spent` },
  });
  return element(
    "li",
    { class: `budget ${budgetTone(budget)}` },
    element(
      "div",
      {},
      element("span", {}, id),
      element("span", {}, `${share}% spent, ${format(Number(spent))} of ${format(Number(amount))}`),
    ),
    bar,
    element("small", {}, budgetOutlook(budget)),
  );
}

function budgetTone({ percent, action }: Status["budgets"][number]): RowTone {
  if (percent < 100) return "";
  return action === "refuse" ? "failure" : "warning";
}

function budgetOutlook(budget: Status["budgets"][number]): string {
  const { percent, action, until, spent_at: spentAt, assumed_for: assumedFor } = budget;
  return [
    ...assumedFor
      .slice(0, MOST_MODELS)
      .map(
        ({ model, amount }) =>
          `${formatDollars(Number(amount))} is assumed for ${model}, which has no price. To set one, type: tollkeeper prices ${model}`,
      ),
    ...(action === "refuse" ? [] : ["Only warns"]),
    ...(spentAt === null || percent >= 100 ? [] : [`At this rate, spent by ${formatTime(spentAt)}`]),
    `Starts over ${formatTime(until)}`,
    ...(percent >= 100 && action === "refuse" ? ["To let requests go on, type: tollkeeper budget lift"] : []),
  ].join(". ");
}

function keyLine({ name, upstream, source, state, problem }: Status["keys"][number]): Line {
  const found = { present: "stored", not_asked: "not needed yet" }[state] ?? state.replaceAll("_", " ");
  const text = `${name} for upstream ${upstream}: ${found} (${source})`;
  return problem === null ? { text } : { text: `${text}: ${problem}`, tone: "failure" };
}

function configLines({ path, loaded_at: loaded, problems, overruled }: Status["config"]): Line[] {
  return [
    { text: path },
    { text: `In force since ${formatTime(loaded)}` },
    ...problems.map(
      ({ path: where, message }) => ({ text: `Not accepted: ${where} ${message}`, tone: "failure" }) as const,
    ),
    ...overruled.map(({ path: where, message }) => ({ text: `${where} ${message}` })),
  ];
}

function ledgerLines(ledger: Status["ledger"]): Line[] {
  const { directory, written, waiting, lost, last_error: error, free_bytes: free } = ledger;
  return [
    { text: directory },
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

function refusedLines(codes: Readonly<Record<string, number>>): Line[] {
  const counts = Object.entries(codes).toSorted(([, one], [, other]) => other - one);
  if (counts.length === 0) return [{ text: "Nothing" }];
  return counts.map(([code, count]) => ({ text: `${formatCount(count)} ${code}` }));
}
