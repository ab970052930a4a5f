// `npm run team -- --machines 50 --records 1000000`: simulates a team whose machines are scraped by a real Prometheus, kills both sides several
// times, and compares what PromQL says with what the ledgers say. Takes minutes, and needs Debian's prometheus.
// `npm run team -- --totals [--requests N] [--rounds N] [--seed S]`: instead compares ledger, dashboard, Prometheus and OTLP of one real daemon
// after each of their processes was killed in every round, with so many requests between two kills.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { TestContext } from "node:test";
import { loadPriceBook } from "../../src/adapters/price-table.ts";
import { findDays, visitDay } from "../../src/adapters/ledger-file.ts";
import { UTC_CALENDAR } from "../../src/core/ledger/calendar.ts";
import { formatRecord } from "../../src/core/ledger/format-record.ts";
import type { SummableRecord } from "../../src/core/ledger/record.ts";
import { summarise } from "../../src/core/ledger/report.ts";
import { formatMoney } from "../../src/core/price/money.ts";
import { PriceBook } from "../../src/core/price/price-book.ts";
import { freePort } from "../helpers/process/free-port.ts";
import { noPrometheus, startPrometheus, type Prometheus } from "../helpers/prometheus/prometheus.ts";
import { makeRecord, PRICES, randomNumbers } from "./made-records.ts";
import { renderTotals } from "./totals/render-totals.ts";
import { runTotals } from "./totals/run-totals.ts";

const { values } = parseArgs({
  options: {
    machines: { type: "string", default: "50" },
    records: { type: "string", default: "1000000" },
    keep: { type: "string" },
    totals: { type: "boolean", default: false },
    requests: { type: "string", default: "300" },
    rounds: { type: "string", default: "3" },
    seed: { type: "string", default: randomBytes(4).toString("hex") },
  },
});
const MACHINES = Number(values.machines);
const RECORDS = Number(values.records);
/** This share was recorded before anybody looked, on three days. */
const OLD = Math.floor((RECORDS * 3) / 4 / MACHINES / 3) * 3;
const ROUNDS = 5;
const INTERVAL_S = 10;
/** After so many intervals, what is missing does not come any more. */
const MOST_LOOKS = 60;
const NEW = Math.floor((RECORDS / MACHINES - OLD) / ROUNDS);

const started = Date.now();
const say = (text: string) =>
  console.log(`${((Date.now() - started) / 1000).toFixed(0).padStart(4)} s  ${text}`);

/** What `startPrometheus` wants of a test: to be told when it is over. */
const endings: (() => unknown)[] = [];
const context = { after: (end: () => unknown) => endings.push(end) } as unknown as TestContext;

/** Writes the ledgers of days that are over. */
function writeOldDays(root: string): void {
  for (let machine = 0; machine < MACHINES; machine += 1) {
    const directory = join(root, `machine-${machine}`, "ledger");
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const random = randomNumbers(machine + 1);
    for (const day of ["2026-11-18", "2026-11-19", "2026-11-20"]) {
      const lines = Array.from({ length: OLD / 3 }, (_, at) =>
        formatRecord(makeRecord(random, `${machine}-${day}-${at}`, `${day}T12:00:00.000Z`)),
      );
      writeFileSync(join(directory, `${day}.ndjson`), `${lines.join("\n")}\n`, { mode: 0o600 });
    }
  }
}

let generation = 0;

async function startMachines(root: string, port: number): Promise<ChildProcess> {
  generation += 1;
  const program = fileURLToPath(new URL("machines.ts", import.meta.url));
  const words = ["--import", "tsx", program, root, String(MACHINES), String(port), String(generation)];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  const ready = await Promise.race([
    once(child.stdout ?? child, "data"),
    once(child, "exit").then(() => null),
  ]);
  if (ready === null) throw new Error("the machines ended");
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** What a report says of the ledger of one machine, or of all. */
async function reportOf(root: string, machines: readonly number[], prices: PriceBook) {
  const sums = {
    requests: 0,
    failed: 0,
    input: 0,
    output: 0,
    cacheRead: 0,
    unknown: 0,
    sandbox: 0,
    records: 0,
  };
  let cost = 0n;
  for (const machine of machines) {
    const directory = join(root, `machine-${machine}`, "ledger");
    const records: SummableRecord[] = [];
    for (const day of findDays(directory, { from: "" }))
      await visitDay(directory, day, (one) => {
        if ("unreadable" in one) throw new Error(`${one.file}:${one.line} is no record`);
        records.push(one);
      });
    const { total, sandbox } = summarise(records, {
      by: ["tool"],
      calendar: UTC_CALENDAR,
      prices,
      filter: {},
    });
    sums.records += records.length;
    sums.requests += total.sums.requests;
    sums.failed += total.sums.failed;
    sums.input += total.sums.input_uncached + total.sums.cache_read + total.sums.cache_write;
    sums.output += total.sums.output;
    sums.cacheRead += total.sums.cache_read;
    sums.unknown += total.cost.unknown;
    sums.sandbox += sandbox.total.sums.requests;
    cost += total.cost.amount;
  }
  return { ...sums, cost: formatMoney(cost) };
}

const EXPRESSIONS = {
  requests: 'tollkeeper_requests_total{tollkeeper_counted_as="request"}',
  failed: 'tollkeeper_requests_total{tollkeeper_counted_as="failed"}',
  input: "gen_ai_client_inference_usage_input_tokens_total",
  output: "gen_ai_client_inference_usage_output_tokens_total",
  cacheRead: "gen_ai_client_inference_usage_cache_read_input_tokens_total",
  unknown: 'tollkeeper_priced_requests_total{tollkeeper_certainty="unknown"}',
  sandbox: "tollkeeper_sandbox_requests_total",
  cost: "tollkeeper_cost_usd_total",
} as const;

/** The differences between PromQL's sums and the report's; none where they agree. Floating point sums have 15 digits. */
async function differences(
  prometheus: Prometheus,
  filter: string,
  report: Awaited<ReturnType<typeof reportOf>>,
) {
  const found: string[] = [];
  for (const [name, expression] of Object.entries(EXPRESSIONS)) {
    const selector = filter === "" ? expression : `(${expression} and on(instance) up{instance="${filter}"})`;
    const told = await prometheus.value(`sum(${selector})`);
    const expected = Number(report[name as keyof typeof report]);
    if (told === null || Math.abs(told - expected) > Math.abs(expected) * 1e-12)
      found.push(`${filter} ${name}: Prometheus ${told}, ledger ${expected}`);
  }
  return found;
}

async function appendEverywhere(port: number, count: number): Promise<void> {
  for (let machine = 0; machine < MACHINES; machine += 1)
    for (let left = count; left > 0; left -= 100)
      await fetch(`http://127.0.0.1:${port}/append/${machine}/${Math.min(100, left)}`);
}

/** Waits for the scrapes that are still to come. */
async function untilEqual(
  prometheus: Prometheus,
  report: Awaited<ReturnType<typeof reportOf>>,
): Promise<void> {
  for (let looks = 0; ; looks += 1) {
    const found = await differences(prometheus, "", report);
    if (found.length === 0) return;
    if (looks === MOST_LOOKS) throw new Error(found.join("\n"));
    await delay(INTERVAL_S * 1000);
  }
}

async function main(root: string): Promise<void> {
  const prices = await loadPriceBook(PRICES);
  writeOldDays(root);
  say(`${OLD * MACHINES} records of ${MACHINES} machines are written`);
  const port = await freePort();
  let machines = await startMachines(root, port);
  endings.push(() => kill(machines));
  const targets = Array.from({ length: MACHINES }, (_, at) => ({
    target: `127.0.0.1:${port}`,
    labels: { instance: `machine-${at}`, __metrics_path__: `/metrics/${at}` },
  }));
  const prometheus = await startPrometheus(context, { targets, interval: `${INTERVAL_S}s` });
  const all = Array.from({ length: MACHINES }, (_, at) => at);
  for (let round = 1; round <= ROUNDS; round += 1) {
    const appending = appendEverywhere(port, NEW).catch(() => {});
    if (round === 3) {
      await delay(300);
      await kill(machines);
      machines = await startMachines(root, port);
      say("the machines were killed while they recorded, and run again");
      await appendEverywhere(port, NEW);
    }
    await appending;
    if (round === 2 || round === 4) {
      await prometheus.killAndRestart();
      say("Prometheus was killed, and runs again");
    }
    if (round === 4) {
      await kill(machines);
      machines = await startMachines(root, port);
      say("the machines were killed, and run again");
    }
    say(`round ${round} is recorded`);
  }
  const report = await reportOf(root, all, prices);
  await untilEqual(prometheus, report);
  say(`equal in total: ${JSON.stringify(report)}`);
  const faults: string[] = [];
  for (const machine of all)
    faults.push(
      ...(await differences(prometheus, `machine-${machine}`, await reportOf(root, [machine], prices))),
    );
  assert.deepEqual(faults, []);
  say(`equal for each of ${MACHINES} machines`);
  for (const metric of Object.values(EXPRESSIONS).map((expression) => expression.replace(/\{.*/, "")))
    assert.equal(await prometheus.value(`sum(resets(${metric}[1h]))`), 0, metric);
  say(`no counter fell; ${await prometheus.value("count({__name__=~'tollkeeper.*|gen_ai.*'})")} series`);
}

async function compareTotals(): Promise<void> {
  const { requests, rounds, seed } = values;
  say(`${rounds} rounds of kills, ${requests} requests between two of them, seed ${seed}`);
  const options = { requests: Number(requests), rounds: Number(rounds), seed, say };
  try {
    const report = await runTotals(context, options);
    console.log(renderTotals(report).join("\n"));
    if (report.faults.length > 0) process.exitCode = 1;
  } finally {
    await endAll();
  }
}

async function simulateTeam(): Promise<void> {
  const root = values.keep ?? mkdtempSync(join(tmpdir(), "tollkeeper-team-"));
  try {
    await main(root);
  } finally {
    await endAll();
    if (values.keep === undefined) rmSync(root, { recursive: true, force: true });
  }
}

/** The last that was started ends first. */
async function endAll(): Promise<void> {
  for (const end of endings.splice(0).toReversed()) await end();
}

if (noPrometheus !== false) console.log(`SKIPPED: ${noPrometheus}`);
else if (values.totals) await compareTotals();
else await simulateTeam();
