import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Books } from "./books.ts";
import { Clients } from "./clients.ts";
import { DaemonUnderChaos } from "./daemon-under-chaos.ts";
import { disturb, DISTURBANCE_NAMES } from "./disturbances.ts";
import { EvilUpstream } from "./evil-upstream.ts";
import { comesTrue, countDescriptors, fewestDescriptors } from "./process-figures.ts";
import type { Figures, Rest } from "./figures.ts";
import { TlsFront } from "./tls-front.ts";

/** How long and how hard. */
export interface ChaosOrder {
  seed: string;
  concurrency: number;
  /** Something happens to the daemon after each so many requests. */
  disturbEvery: number;
  /** How much of the run is done after so many requests, from 0 to 1, which ends it. */
  progress(requests: number): number;
}

/** Whatever is left open when all clients have gone has this long to end: the limits that the run sets are shorter. */
const QUIET_WITHIN_MS = 10_000;

/** The day's file, which a daemon opens with its first record. */
const LEDGER_DESCRIPTORS = 1;

/**
 * Runs clients, an evil upstream and all kinds of disturbances against a daemon, and returns what everybody wrote down.
 * Nothing else is left of it.
 */
export async function runChaos(order: ChaosOrder): Promise<{ books: Books; figures: Figures }> {
  const books = new Books();
  const upstream = new EvilUpstream(books, order.seed);
  const plain = await upstream.start();
  const front = new TlsFront(Number(new URL(plain).port));
  const addresses = { plain, tls: await front.start(), certificateFile: front.certificateFile };
  const daemon = new DaemonUnderChaos(books, upstream, addresses);
  try {
    await daemon.start();
    const descriptorLimit = (await fewestDescriptors(daemon.current.pid)) + LEDGER_DESCRIPTORS;
    const startedAt = performance.now();
    await disturbClients(order, books, daemon);
    const seconds = (performance.now() - startedAt) / 1000;
    const rest = await measureRest(daemon, upstream, descriptorLimit);
    const records = await daemon.current.ledger();
    const { ledger } = await daemon.current.status();
    const writings = { ...readFiles(daemon.home), "what it said": daemon.said };
    return { books, figures: { seconds, records, ledger, writings, memory: daemon.memory, rest } };
  } finally {
    front.close();
    upstream.close();
    await daemon.remove();
  }
}

/** Resolves when the run is done, all clients have gone, and the last disturbance is over. */
async function disturbClients(order: ChaosOrder, books: Books, daemon: DaemonUnderChaos): Promise<void> {
  const { seed, concurrency, disturbEvery } = order;
  const run = `chaos-${createHash("sha256").update(seed).digest("hex").slice(0, 8)}`;
  // Whoever is in a hurry: everything has to happen once.
  const done = () => Math.min(order.progress(clients.count), turn < DISTURBANCE_NAMES.length ? 0.99 : 1);
  let turn = 0;
  const port = () => daemon.settings.port;
  const clients = new Clients({ seed, run, books, concurrency, port, mayGoOn: () => done() < 1 });
  const running = clients.run();
  for (; done() < 1; turn += 1) {
    const due = clients.count + disturbEvery;
    while (clients.count < due && done() < 1) await delay(20);
    if (done() < 1) await disturb(daemon, { seed, turn, done: done() });
  }
  await running;
}

/** What is left once nobody wants anything any more. */
async function measureRest(
  daemon: DaemonUnderChaos,
  upstream: EvilUpstream,
  descriptorLimit: number,
): Promise<Rest> {
  const openExchanges = async () => (await daemon.current.status()).openExchanges;
  await comesTrue(async () => upstream.open.size === 0 && (await openExchanges()) === 0, QUIET_WITHIN_MS);
  const found = { openExchanges: await openExchanges(), openAtUpstream: [...upstream.open] };
  const pooledConnections = upstream.sockets.size;
  upstream.hangUp();
  const { pid } = daemon.current;
  await comesTrue(() => countDescriptors(pid) <= descriptorLimit, QUIET_WITHIN_MS);
  return { ...found, pooledConnections, descriptors: countDescriptors(pid), descriptorLimit };
}

/** Every file that the daemon could have written to, by its path. */
function readFiles(home: string): Record<string, string> {
  const paths = readdirSync(home, { recursive: true, encoding: "utf8" }).filter((path) => path !== "key");
  const files = paths.filter((path) => statSync(join(home, path)).isFile());
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(home, path), "utf8")]));
}
