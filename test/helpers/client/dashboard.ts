import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Page } from "playwright-core";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { toPrintable } from "../../../src/core/text/printable.ts";
import { startDaemon, type Daemon } from "../daemon/daemon.ts";
import { writeKeyFile } from "../keychain/key-file.ts";

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

/** What `usage --json` says, as that table has it. */
export function expectedTable(usage: string, by: string): Record<string, string[]> {
  const { rows, total } = JSON.parse(usage) as {
    rows: Record<string, unknown>[];
    total: Record<string, unknown>;
  };
  return Object.fromEntries([
    ...rows.map((row) => [toPrintable((row[by] as string | null) ?? `(no ${by})`), cellsOf(row)] as const),
    ["total", cellsOf(total)] as const,
  ]);
}

function cellsOf(row: Record<string, unknown>): string[] {
  const input = Number(row["input_uncached"]) + Number(row["cache_read"]) + Number(row["cache_write"]);
  const share = input === 0 ? "" : shareOf(Number(row["cache_read"]), input);
  return [
    String(row["cost_usd"]),
    count(row["requests"]),
    count(input),
    share,
    count(row["output"]),
    count(row["failed"]),
    row["cost_is_exact"] === true ? "exact" : "lower bound",
  ];
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
