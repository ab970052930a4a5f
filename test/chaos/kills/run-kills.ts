import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { launchDaemon, type DaemonStart } from "../../helpers/daemon/daemon.ts";
import { noteNames } from "../../helpers/ledger/notes.ts";
import { sampleLag } from "../../helpers/process/sample-lag.ts";
import { removeDirectory } from "../../helpers/process/scratch-directory.ts";
import { between, chance, createRandom, type Random } from "../random.ts";
import { Books } from "./books.ts";
import { checkBooks, type KillReport } from "./check-books.ts";
import { loadDaemon } from "./clients.ts";
import { startBookkeepingUpstream } from "./upstream.ts";

/** Share of the starts that are killed too, most of them while they make records of notes. */
const KILLED_STARTS = 0.2;

/**
 * Kills a daemon so many times under a mix of short requests and long ones, and restarts it each time. Compares its ledger
 * with the books of clients and upstream.
 */
export async function runKills({ kills, seed }: { kills: number; seed: string }): Promise<KillReport> {
  const random = createRandom(seed);
  const books = new Books();
  const { server, baseUrl } = await startBookkeepingUpstream(books);
  const home = mkdtempSync(join(tmpdir(), "tollkeeper-kills-"));
  const key = join(home, "key");
  writeFileSync(key, "some-key\n", { mode: 0o600 });
  const upstreams = { default: { baseUrl, keySource: { file: key } } };
  // Longer than any response, so that the daemon waits for the usage of clients that have left.
  const launch = () => launchDaemon(home, { config: { upstreams, abort: { graceMs: 30_000 } } });
  let start: DaemonStart | null = null;
  try {
    while (books.rounds.length < kills) {
      if (chance(random, KILLED_STARTS)) await killWithin(launch(), between(random, 50, 400));
      start = launch();
      await killUnderLoad(start, books, random);
    }
    start = launch();
    const daemon = await start.ready;
    const { directory } = (await daemon.status()).ledger;
    const report = checkBooks(books, await daemon.ledger(), countTornLines(directory));
    if ((await daemon.stop()) !== 0) report.faults.push("the last daemon did not stop well");
    const left = noteNames(directory).length;
    if (left > 0) report.faults.push(`${left} notes are left`);
    return report;
  } finally {
    await start?.kill();
    server.close();
    server.closeAllConnections();
    removeDirectory(home);
  }
}

function countTornLines(directory: string): number {
  const torn = readdirSync(directory).filter((name) => name.endsWith(".torn"));
  const texts = torn.map((name) => readFileSync(join(directory, name), "utf8"));
  return texts.reduce((lines, text) => lines + text.split("\n").length - 1, 0);
}

async function killWithin(start: DaemonStart, ms: number): Promise<void> {
  start.ready.catch(() => {});
  await delay(ms);
  await start.kill();
}

/** Loads a daemon for a random time and kills it. Resolves when its clients have noticed. */
async function killUnderLoad(start: DaemonStart, books: Books, random: Random): Promise<void> {
  const daemon = await start.ready;
  const clients = loadDaemon(daemon.port, books, random);
  const lag = sampleLag(daemon);
  await delay(between(random, 1200, 4000));
  const round = { killedAt: performance.now(), lagMs: lag() };
  await start.kill();
  // Requests of this round name it by its number, which is that of the rounds before it.
  await clients;
  books.rounds.push(round);
}
