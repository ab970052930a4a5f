import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Page } from "playwright-core";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { toPrintable } from "../../../src/core/text/printable.ts";
import { startDaemon, type Daemon } from "../daemon/daemon.ts";
import { writeKeyFile } from "../keychain/key-file.ts";
import { tokens, usageRecord } from "../ledger/usage-record.ts";

/** Starts a daemon whose upstream has prices, with these records. */
export async function startWithRecords(t: TestContext, records: readonly UsageRecord[]): Promise<Daemon> {
  const { config } = writeKeyFile(t, "https://api.anthropic.com/v1", "some-key");
  const daemon = await startDaemon(t, { config });
  writeRecords(daemon, records);
  return daemon;
}

/** Replaces the records of the days that these are of. */
export function writeRecords(daemon: Daemon, records: readonly UsageRecord[]): void {
  const directory = join(daemon.home, "state", "tollkeeper", "ledger");
  mkdirSync(directory, { recursive: true });
  const days = new Map<string, string>();
  for (const record of records) {
    const day = record.ts.slice(0, 10);
    days.set(day, `${days.get(day) ?? ""}${JSON.stringify(record)}\n`);
  }
  for (const [day, lines] of days) writeFileSync(join(directory, `${day}.ndjson`), lines, { mode: 0o600 });
}

/** The rows of the table: the names, and the cells, with exact costs. */
export async function readTable(page: Page): Promise<Record<string, string[]>> {
  await page.waitForSelector(".table tbody tr");
  const rows = await page.$$eval(".table tbody tr, .table tfoot tr", (all) =>
    all.map((row) => [...row.children].map((cell) => cell.getAttribute("title") ?? cell.textContent ?? "")),
  );
  return Object.fromEntries(rows.map(([name = "", ...cells]) => [name, cells]));
}

/** What the page says of a period: its cost with what is beneath it, and by their titles the figures, each with what is beneath. */
export async function readGlance(page: Page): Promise<Record<string, string[]>> {
  const cost = await page.$$eval(".period > :not(h2)", (all) => all.map((part) => part.textContent ?? ""));
  const cards = await page.$$eval(".glance .card", (all) =>
    all.map((card) => [...card.children].map((part) => part.textContent ?? "")),
  );
  return { Cost: cost, ...Object.fromEntries(cards.map(([title = "", ...figures]) => [title, figures])) };
}

/**
 * What `usage --json` says of a period and of the one before, which `title` names, as the page has it.
 * @param since - the first recorded day, if it is not earlier than the period before; "" otherwise
 */
export function expectedGlance(
  usage: string,
  before: string,
  title: string,
  since = "",
): Record<string, string[]> {
  const [now, then] = [usage, before].map((text) => (JSON.parse(text) as { total: Figures }).total);
  if (now === undefined || then === undefined) throw new Error("there is no total");
  const saved = Number(now["cache_saved_usd"]);
  // Recorded in part, it is not compared by shares.
  const change = since === "" ? changeOf(Number(now["cost_usd"]), Number(then["cost_usd"])) : "";
  // Where there was no request before, one figure says so for all.
  const wasUnused = allOf(then) === 0;
  const beside = (text: string, one: number, other: number) => {
    if (wasUnused) return [];
    const share = since === "" ? changeOf(one, other) : "";
    return [`before: ${text}${share === "" ? "" : ` (${share})`}`];
  };
  const costBefore = costOf(then);
  return {
    Cost: [
      costOf(now),
      change === ""
        ? `${title}: ${costBefore}${since === "" ? "" : `, recorded since ${sayDay(since)}`}`
        : `${sayChange(change, title)} (${costBefore})`,
      ...(now["plan_worth_usd"] === null
        ? []
        : [
            `A plan paid requests worth ${worthOf(now)} at the prices of a key; before: ${worthOf(then) || "nothing"}. They are in no cost.`,
          ]),
      ...(now["extra_requests"] === 0
        ? []
        : [`${dollars(Number(now["extra_cost_usd"]))} of the cost is extra use of plans.`]),
    ],
    Requests: [
      large(allOf(now)),
      endingsOf(now),
      ...(wasUnused
        ? ["before: none"]
        : beside(large(allOf(then)), allOf(now), allOf(then)).map((text) => `${text}${completedOf(then)}`)),
    ],
    "Tokens in": [
      large(inputOf(now)),
      ...beside(large(inputOf(then)), inputOf(now), inputOf(then)),
      classesOf(now),
    ],
    "Tokens out": [
      large(Number(now["output"])),
      ...beside(large(Number(then["output"])), Number(now["output"]), Number(then["output"])),
    ],
    "From cache": [
      shareOrDash(now["cache_read"], inputOf(now)),
      ...(wasUnused ? [] : [`before: ${shareOrDash(then["cache_read"], inputOf(then))}`]),
      saved < 0
        ? `the cache cost ${dollars(-saved)} more than it saved`
        : `the cache saved ${dollars(saved)}`,
    ],
  };
}

/** From a million on, `490.4M`. */
function large(value: number): string {
  return value < 1_000_000
    ? count(value)
    : value.toLocaleString("en-US", { notation: "compact", maximumFractionDigits: 1 });
}

/** What the input is made of, in one scale; nothing where no cache had a part in it. */
function classesOf(sums: Figures): string {
  const named = [
    ["input_uncached", "uncached"],
    ["cache_read", "from cache"],
    ["cache_write", "to cache"],
  ] as const;
  const parts = named.map(([name, word]) => [Number(sums[name]), word] as const);
  if ((parts[1]?.[0] ?? 0) + (parts[2]?.[0] ?? 0) === 0) return "";
  const compact = { notation: "compact", maximumFractionDigits: 1 } as const;
  const options = inputOf(sums) < 1_000_000 ? {} : compact;
  return parts
    .filter(([number]) => number !== 0)
    .map(([number, word]) => `${number.toLocaleString("en-US", options)} ${word}`)
    .join(", ");
}

/** All requests, those included that failed or were refused. */
function allOf(sums: Figures): number {
  return Number(sums["requests"]) + Number(sums["failed"]);
}

function completedIn(sums: Figures): number {
  return Number(sums["requests"]) - Number(sums["cut"]) - Number(sums["failed_midway"]);
}

/** How they ended: `22 completed, 4 failed`, or `all completed`. */
function endingsOf(sums: Figures): string {
  const completed = completedIn(sums);
  if (allOf(sums) > 0 && completed === allOf(sums)) return "all completed";
  return [
    [completed, "completed"],
    [Number(sums["cut"]), "cut short"],
    [failedOf(sums), "failed"],
    [Number(sums["refused"]), "refused"],
  ]
    .filter(([number]) => number !== 0)
    .map(([number, words]) => `${count(number)} ${words}`)
    .join(", ");
}

/** How many of an earlier period completed; empty if all did. */
function completedOf(sums: Figures): string {
  const completed = completedIn(sums);
  return completed === allOf(sums) ? "" : `, ${large(completed)} completed`;
}

type Figures = Record<string, unknown>;

function inputOf(sums: Figures): number {
  return Number(sums["input_uncached"]) + Number(sums["cache_read"]) + Number(sums["cache_write"]);
}

/** Requests that failed, at once or midway, without those that tollkeeper refused. */
export function failedOf(sums: Figures): number {
  return Number(sums["failed"]) - Number(sums["refused"]) + Number(sums["failed_midway"]);
}

function shareOrDash(part: unknown, whole: number): string {
  return whole === 0 ? "–" : shareOf(Number(part), whole);
}

/** Such as `Nov 3`. */
function sayDay(day: string): string {
  const time = new Date(`${day}T00:00`);
  const near = ["today", "yesterday"].find(
    (_, at) => new Date(Date.now() - at * 86_400_000).toDateString() === time.toDateString(),
  );
  const year = time.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return near ?? time.toLocaleDateString("en-US", { month: "short", day: "numeric", year });
}

/** Why the cost of `usage --json` is at least that, as the page says it; empty where it is exact. */
export function expectedReason(usage: string): string[] {
  const { total: sums } = JSON.parse(usage) as { total: Figures };
  if (sums["cost_is_exact"] === true) return [];
  const uncounted = Number(sums["partial"]) + Number(sums["absent"]);
  const models = new Set((sums["unpriced"] as { model: string | null }[]).map(({ model }) => model));
  const all = [...models].map((model) => model ?? "an unknown model");
  const names = all.length > 2 ? [...all.slice(0, 2), `${all.length - 2} more`] : all;
  const reasons = [
    ...(uncounted === 0
      ? []
      : [`${count(uncounted)} ${uncounted === 1 ? "request has" : "requests have"} no final token counts`]),
    ...(all.length === 0 ? [] : [`not all prices are known of ${names.join(", ")}`]),
  ];
  return reasons.length === 0 ? [] : [`≥ means at least: ${reasons.join(", and ")}.`];
}

/** The cost of sums, as the page writes it. */
export function costOf(sums: Figures): string {
  const [cost, isExact] = [Number(sums["cost_usd"]), sums["cost_is_exact"] === true];
  if (cost === 0 && isExact && Number(sums["plan_requests"]) > 0) return "plan";
  if (cost === 0 && isExact && inputOf(sums) + Number(sums["output"]) > 0) return "free";
  if (cost === 0 && !isExact) return (sums["unpriced"] as unknown[]).length > 0 ? "unpriced" : "unknown";
  return `${isExact ? "" : "≥"}${dollars(cost)}`;
}

/** What plans paid, as the page writes it; empty where none paid anything. */
function worthOf(sums: Figures): string {
  if (sums["plan_worth_usd"] === null) return "";
  return `${sums["plan_worth_is_exact"] === true ? "" : "≥"}${dollars(Number(sums["plan_worth_usd"]))}`;
}

function changeOf(now: number, then: number): string {
  if (then === 0) return "";
  if (now / then >= 10) return `×${count(Math.round(now / then))}`;
  const change = (now / then - 1).toLocaleString("en-US", { style: "percent", signDisplay: "exceptZero" });
  return change.replace("-", "−");
}

/** `+33% on yesterday`, or `39 times yesterday`. */
function sayChange(change: string, what: string): string {
  return change.startsWith("×") ? `${change.slice(1)} times ${what}` : `${change} on ${what}`;
}

/** Cents; below a dollar three digits that count. */
export function dollars(value: number): string {
  const isSmall = value !== 0 && value < 1;
  const digits = isSmall
    ? { minimumSignificantDigits: 3, maximumSignificantDigits: 3 }
    : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return `$${value.toLocaleString("en-US", digits)}`;
}

/** The rows of a table as texts, with exact costs. */
export async function readRows(page: Page, caption: string): Promise<string[][]> {
  const rows = page.locator(`table:has(caption:text-is("${caption}")) tbody tr:not(.day)`);
  return rows.evaluateAll((all) =>
    all.map((row) =>
      [...row.children].map(
        (cell) =>
          (cell.closest(".table") === null ? null : cell.getAttribute("title")) ?? cell.textContent ?? "",
      ),
    ),
  );
}

/** What `usage --json` says, as that table has it. */
export function expectedTable(usage: string, by: string): Record<string, string[]> {
  const { rows, total } = JSON.parse(usage) as {
    rows: Record<string, unknown>[];
    total: Record<string, unknown>;
  };
  const hasWorth = total["plan_worth_usd"] !== null;
  return Object.fromEntries([
    ...rows.map(
      (row) => [toPrintable((row[by] as string | null) ?? `(no ${by})`), cellsOf(row, hasWorth)] as const,
    ),
    ["total", cellsOf(total, hasWorth)] as const,
  ]);
}

function cellsOf(row: Record<string, unknown>, hasWorth: boolean): string[] {
  const input = Number(row["input_uncached"]) + Number(row["cache_read"]) + Number(row["cache_write"]);
  const share = input === 0 ? "" : shareOf(Number(row["cache_read"]), input);
  return [
    (row["cost_usd"] as string | null) ?? "",
    ...(hasWorth ? [(row["plan_worth_usd"] as string | null) ?? ""] : []),
    count(allOf(row)),
    count(input),
    share,
    count(row["output"]),
    failedOf(row) === 0 ? "" : count(failedOf(row)),
    certaintyCell(row),
  ];
}

/** How certain a cost is, as the page's tables have it. */
function certaintyCell(row: Record<string, unknown>): string {
  if (row["cost_is_exact"] === true) return "all counted";
  const models = new Set((row["unpriced"] as { model: string | null }[]).map(({ model }) => model)).size;
  const [requests, partial, absent] = ["requests", "partial", "absent"].map((name) => Number(row[name]));
  const lost = (partial ?? 0) + (absent ?? 0);
  const parts = [
    ...(lost === 0 ? [] : [`${shareOf((requests ?? 0) - lost, requests ?? 0)} counted`]),
    ...(models === 0 ? [] : [`${count(models)} ${models === 1 ? "model" : "models"} unpriced`]),
  ];
  return parts.join(", ") || "lower bound";
}

/** Only nothing is `0%`, and only all is `100%`. */
function shareOf(part: number, whole: number): string {
  const percent = Math.round((100 * part) / whole);
  if (percent === 0 && part > 0) return "<1%";
  return percent === 100 && part < whole ? ">99%" : `${percent}%`;
}

function count(value: unknown): string {
  return Number(value).toLocaleString("en-US");
}

/** A model's name that tries to be markup, and to turn the text around. */
export const EVIL = `<img src=x onerror=alert(1)>\u202e"'`;

/** Records of several tools and models, some cut off, some without usage. */
export function variedRecords(length: number): UsageRecord[] {
  const now = Date.now() - 60_000;
  return Array.from({ length }, (_, at) =>
    usageRecord({
      ts: new Date(now - at).toISOString(),
      tool: ["codex", "claude-code", "zed"][at % 3] ?? "",
      model: at % 5 === 0 ? EVIL : "claude-sonnet-5",
      session: at % 7 === 0 ? null : `session-${at % 4}`,
      upstream: "default",
      ...(at % 11 === 0
        ? { outcome: "cut", usage: "absent", tokens: null }
        : { tokens: tokens({ input_uncached: 1_234 * at, cache_read: 99 * at, output: 7 * at }) }),
    }),
  );
}
