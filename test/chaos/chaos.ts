import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Observations } from "./observations.ts";
import { Clients } from "./clients.ts";
import { DaemonUnderChaos } from "./daemon-under-chaos.ts";
import { disturb, DISTURBANCE_NAMES } from "./disturbances.ts";
import { HostileUpstream } from "./hostile-upstream.ts";
import { becomesTrue, countDescriptors, fewestDescriptors } from "../helpers/process/process-metrics.ts";
import type { RunResults, IdleState } from "./run-results.ts";
import { TlsFront } from "./tls-front.ts";

/** How long to run, and under what load. */
export interface ChaosOptions {
  seed: string;
  concurrency: number;
  /** The daemon is disturbed after each so many requests. */
  disturbEvery: number;
  /** The completed share of the run after so many requests. The run ends at 1. */
  progress(requests: number): number;
}

/** How long open exchanges may last after all clients have disconnected: longer than all limits of the run. */
const IDLE_WITHIN_MS = 10_000;

/** A daemon opens the day's file with its first record. */
const LEDGER_DESCRIPTORS = 1;

/** Runs clients, a hostile upstream and disturbances against a daemon. Returns what all parties observed. */
export async function runChaos(
  options: ChaosOptions,
): Promise<{ observations: Observations; results: RunResults }> {
  const observations = new Observations();
  const upstream = new HostileUpstream(observations, options.seed);
  const plain = await upstream.start();
  const front = new TlsFront(Number(new URL(plain).port));
  const addresses = { plain, tls: await front.start(), certificateFile: front.certificateFile };
  const daemon = new DaemonUnderChaos(observations, upstream, addresses);
  try {
    await daemon.start();
    const descriptorLimit = (await fewestDescriptors(daemon.current.pid)) + LEDGER_DESCRIPTORS;
    const startedAt = performance.now();
    await disturbClients(options, observations, daemon);
    const seconds = (performance.now() - startedAt) / 1000;
    const idle = await measureIdle(daemon, upstream, descriptorLimit);
    const records = await daemon.current.ledger();
    const { ledger } = await daemon.current.status();
    const texts = { ...readFiles(daemon.home), output: daemon.output };
    return { observations, results: { seconds, records, ledger, texts, memory: daemon.memory, idle } };
  } finally {
    front.close();
    upstream.close();
    await daemon.remove();
  }
}

/** Resolves when the run is complete, all clients have disconnected, and the last disturbance is over. */
async function disturbClients(
  options: ChaosOptions,
  observations: Observations,
  daemon: DaemonUnderChaos,
): Promise<void> {
  const { seed, concurrency, disturbEvery } = options;
  const run = `chaos-${createHash("sha256").update(seed).digest("hex").slice(0, 8)}`;
  // Even a short run goes on until every disturbance has happened once.
  const done = () => Math.min(options.progress(clients.count), turn < DISTURBANCE_NAMES.length ? 0.99 : 1);
  let turn = 0;
  const port = () => daemon.settings.port;
  const clients = new Clients({ seed, run, observations, concurrency, port, mayContinue: () => done() < 1 });
  const running = clients.run();
  for (; done() < 1; turn += 1) {
    const due = clients.count + disturbEvery;
    while (clients.count < due && done() < 1) await delay(20);
    if (done() < 1) await disturb(daemon, clients, { seed, turn, done: done() });
  }
  await running;
}

/** Measures what is left when the daemon is idle. */
async function measureIdle(
  daemon: DaemonUnderChaos,
  upstream: HostileUpstream,
  descriptorLimit: number,
): Promise<IdleState> {
  const isIdle = async () => {
    const { openExchanges, bufferedBytes } = await daemon.current.status();
    return upstream.open.size === 0 && openExchanges === 0 && bufferedBytes === 0;
  };
  await becomesTrue(isIdle, IDLE_WITHIN_MS);
  const { openExchanges, bufferedBytes } = await daemon.current.status();
  const found = { openExchanges, bufferedBytes, openAtUpstream: [...upstream.open] };
  const pooledConnections = upstream.sockets.size;
  upstream.closeConnections();
  const { pid } = daemon.current;
  await becomesTrue(() => countDescriptors(pid) <= descriptorLimit, IDLE_WITHIN_MS);
  return { ...found, pooledConnections, descriptors: countDescriptors(pid), descriptorLimit };
}

/** Reads every file that the daemon could have written, by path. */
function readFiles(home: string): Record<string, string> {
  const paths = readdirSync(home, { recursive: true, encoding: "utf8" }).filter((path) => path !== "key");
  const files = paths.filter((path) => statSync(join(home, path)).isFile());
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(home, path), "utf8")]));
}
