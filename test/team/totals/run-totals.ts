import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { startKillableDaemon, type KillableDaemon } from "../../helpers/daemon/killable-daemon.ts";
import { writeKeyFile } from "../../helpers/keychain/key-file.ts";
import { startPrometheus, type Prometheus } from "../../helpers/prometheus/prometheus.ts";
import { startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { Load } from "./load.ts";
import { startReceiverProcess, type ReceiverProcess } from "./receiver-process.ts";
import {
  countRepeated,
  COUNTERS,
  feedTotals,
  ledgerTotals,
  otlpRecordTotals,
  otlpSumTotals,
  prometheusTotals,
  recordedNonces,
} from "./sources.ts";
import { PRICES, type Totals } from "./totals.ts";
import { respondAsPlanned } from "./upstream.ts";

/** How long a total that differs may still change. A receiver that was away is asked again within seconds. */
const LIMIT_MS = 60_000;

/** Each source of totals by its name. */
export type Columns = Readonly<Record<string, Totals>>;

/** What a run has found. */
export interface TotalsReport {
  columns: Columns;
  /** Why it fails; nothing otherwise. */
  faults: string[];
  /** Requests that were sent, and responses that clients have received whole. */
  sent: number;
  answered: number;
  /** Log records that the receiver got more than once. */
  repeated: number;
}

interface TotalsOptions {
  /** Requests between two kills. */
  requests: number;
  /** How often everybody is killed. */
  rounds: number;
  seed: string;
  /** Is told what happens. */
  say(text: string): void;
}

interface Parties {
  daemon: KillableDaemon;
  prometheus: Prometheus;
  receiver: ReceiverProcess;
}

/** Sends requests of all kinds through a daemon while it, its exporter, Prometheus and an OTLP receiver are killed, and compares their totals. */
export async function runTotals(t: TestContext, options: TotalsOptions): Promise<TotalsReport> {
  const { requests, rounds, seed, say } = options;
  const parties = await startParties(t);
  const load = new Load(parties.daemon, seed);
  await load.send(requests);
  for (let round = 1; round <= rounds; round += 1)
    for (const [what, disturb] of Object.entries(DISTURBANCES)) {
      await disturb(parties, (during) => load.send(requests, during));
      say(`round ${round}: ${what}`);
    }
  await waitUntil("the last exchange", async () => {
    const { openExchanges } = await parties.daemon.daemon().status();
    return openExchanges === 0 ? true : null;
  });
  const columns = await untilEqual(parties);
  const repeated = countRepeated(parties.receiver.kept());
  const recorded = recordedNonces(await ledgerDirectory(parties));
  const unrecorded = [...load.answered].filter((nonce) => !recorded.has(nonce));
  const faults = [
    ...differencesOf(columns),
    ...unrecorded.map((nonce) => `${nonce} was answered, and is in no record`),
    ...(await fallenCounters(parties.prometheus)),
    ...shortfalls(columns, repeated),
  ];
  return { columns, faults, sent: load.sent, answered: load.answered.size, repeated };
}

async function startParties(t: TestContext): Promise<Parties> {
  const upstream = await startUpstream(t, respondAsPlanned);
  const receiver = await startReceiverProcess(t);
  const { config } = writeKeyFile(t, upstream.baseUrl, "some-key");
  const { endpoint } = receiver;
  const exported = { metrics: {}, otlp: { endpoint, intervalMs: 1_000 } };
  const daemon = await startKillableDaemon(t, { ...config, prices: PRICES, export: exported });
  const prometheus = await startPrometheus(t, { targets: [{ target: `127.0.0.1:${daemon.daemon().port}` }] });
  return { daemon, prometheus, receiver };
}

/** Sends requests, and has something happen in the middle of them. */
type Send = (during?: () => Promise<void>) => Promise<void>;

/** Each ends with everybody running again. Nothing here waits for quiet: it goes on with the requests of the next one. */
const DISTURBANCES: Readonly<Record<string, (parties: Parties, send: Send) => Promise<void>>> = {
  "the exporter was killed": ({ daemon }, send) => send(() => killExporter(daemon)),

  "the daemon was killed": ({ daemon }, send) => send(() => daemon.killAndRestart()),

  "Prometheus was killed": ({ prometheus }, send) => send(() => prometheus.killAndRestart()),

  "the receiver was killed, and missed": async ({ daemon, receiver }, send) => {
    await send(() => receiver.kill());
    await waitUntil("a failed export", async () => (await daemon.daemon().status()).export?.problem ?? null);
    await receiver.start();
  },

  "the receiver was killed before it acknowledged what it had kept": async ({ receiver }, send) => {
    await receiver.kill();
    await send();
    const { killed } = await receiver.startDoomed();
    await killed;
    await receiver.start();
  },

  "all of them were killed": ({ daemon, prometheus, receiver }, send) =>
    send(async () => {
      await killExporter(daemon);
      await receiver.kill();
      await Promise.all([daemon.killAndRestart(), prometheus.killAndRestart(), receiver.start()]);
    }),
};

/** Resolves to the exporter's process id once it runs and has been accepted. */
function exporterOf(daemon: KillableDaemon): Promise<number> {
  return waitUntil("an exporter", async () => {
    const exporter = (await daemon.daemon().status()).export;
    return exporter === null || exporter.lastAcceptedAt === null ? null : exporter.pid;
  });
}

async function killExporter(daemon: KillableDaemon): Promise<void> {
  process.kill(await exporterOf(daemon), "SIGKILL");
}

async function ledgerDirectory({ daemon }: Parties): Promise<string> {
  return (await daemon.daemon().status()).ledger.directory;
}

/** Asks all sources until they agree, or do not by the limit. */
async function untilEqual(parties: Parties): Promise<Columns> {
  const { daemon, prometheus, receiver } = parties;
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const kept = receiver.kept();
    const columns = {
      ledger: ledgerTotals(await ledgerDirectory(parties)),
      "dashboard feed": await feedTotals(daemon.daemon()),
      "Prometheus (PromQL)": await prometheusTotals(prometheus),
      "OTLP records": otlpRecordTotals(kept),
      "OTLP sums": otlpSumTotals(kept),
    };
    if (differencesOf(columns).length === 0 || performance.now() > deadline) return columns;
    await delay(200);
  }
}

function differencesOf(columns: Columns): string[] {
  const { ledger, ...others } = columns;
  if (ledger === undefined) return ["the ledger has not been read"];
  return Object.entries(ledger).flatMap(([name, expected]) =>
    Object.entries(others).flatMap(([source, totals]) => {
      const found = totals[name as keyof Totals];
      const isEqual = found === null || found === expected;
      return isEqual ? [] : [`${name}: ${found} in ${source}, ${expected} in the ledger`];
    }),
  );
}

/** A counter that falls is counted as a reset, and all before it again. */
async function fallenCounters(prometheus: Prometheus): Promise<string[]> {
  const falls = Object.values(COUNTERS).map(async (counter) => {
    const resets = await prometheus.value(`sum(resets(${counter}[1d]))`);
    return resets === 0 ? [] : [`${counter} fell ${resets} times`];
  });
  return (await Promise.all(falls)).flat();
}

/** Totals that are equal prove little if they are small, or if nothing ever came twice. */
function shortfalls({ ledger }: Columns, repeated: number): string[] {
  const faults = Object.entries(ledger ?? {})
    .filter(([, total]) => total === 0)
    .map(([name]) => `${name} is 0 everywhere`);
  if (repeated === 0) faults.push("no record was sent again");
  return faults;
}
