import { setMaxListeners } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { launchDaemon, type Daemon, type DaemonStart } from "../../helpers/daemon/daemon.ts";
import { sampleLag } from "../../helpers/process/sample-lag.ts";
import { noteNames } from "../../helpers/ledger/notes.ts";
import { becomesTrue } from "../../helpers/process/process-metrics.ts";
import { removeDirectory } from "../../helpers/process/scratch-directory.ts";
import { between, chance, createRandom, type Random } from "../random.ts";
import { Books } from "./books.ts";
import { checkBooks, NOTE_AFTER_MS, type SocketReport } from "./check-books.ts";
import { loadSockets } from "./clients.ts";
import { startSocketUpstream } from "./upstream.ts";

/** Share of the rounds that end with a kill. The others end with a stop. */
const KILLED = 0.6;

/** The upstream has so long to end the responses of a client that has left. */
const GRACE_MS = 1_000;

/** Responses that run at a stop have so long to end. */
const DRAIN_MS = 1_500;

const IDLE_WITHIN_MS = 10_000;

/**
 * Has clients talk over WebSockets with a daemon in so many rounds. In each the configuration is read again and the key changes, and
 * the daemon is killed or stopped in the middle. Compares its ledger with the books of clients and upstream.
 */
export async function runSockets({ rounds, seed }: { rounds: number; seed: string }): Promise<SocketReport> {
  const random = createRandom(seed);
  const books = new Books();
  const upstream = await startSocketUpstream(books, seed);
  const home = mkdtempSync(join(tmpdir(), "tollkeeper-sockets-"));
  const key = join(home, "key");
  const newKey = () => writeFileSync(key, `key-${Math.floor(random() * 1e9)}\n`, { mode: 0o600 });
  newKey();
  const { baseUrl } = upstream;
  const config = {
    upstreams: { default: { baseUrl, keySource: { file: key }, websocket: "auto" } },
    groups: { good: { models: ["gpt-good"] } },
    tools: { "*": { group: "good" } },
    ledger: { noteAfterMs: NOTE_AFTER_MS },
    abort: { graceMs: GRACE_MS },
    limits: { drainMs: DRAIN_MS },
  };
  const launch = () => launchDaemon(home, { config });
  let start: DaemonStart | null = null;
  try {
    while (books.rounds.length < rounds) {
      start = launch();
      await disturbRound({ start, books, random, newKey, seed: `${seed} ${books.rounds.length}` });
    }
    start = launch();
    const daemon = await start.ready;
    const { directory } = (await daemon.status()).ledger;
    const report = checkBooks(books, await daemon.ledger());
    if (noteNames(directory).length > 0) report.faults.push("notes are left");
    if ((await daemon.stop()) !== 0) report.faults.push("the last daemon did not stop well");
    if (!(await becomesTrue(() => upstream.sockets.size === 0, IDLE_WITHIN_MS)))
      report.faults.push(`${upstream.sockets.size} WebSockets are left at the upstream`);
    return report;
  } finally {
    await start?.kill();
    upstream.close();
    removeDirectory(home);
  }
}

/** What one round works with. */
interface RoundParts {
  start: DaemonStart;
  books: Books;
  random: Random;
  seed: string;
  newKey(): void;
}

/** One life of a daemon. */
async function disturbRound({ start, books, random, newKey, seed }: RoundParts): Promise<void> {
  const daemon = await start.ready;
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  const clients = loadSockets(daemon.port, books, seed, over.signal);
  const lag = sampleLag(daemon);
  for (let left = between(random, 1, 4); left > 0; left -= 1) {
    await delay(between(random, 200, 1200));
    if (chance(random, 0.5)) {
      books.count("new key");
      newKey();
    }
    books.count("reload");
    process.kill(daemon.pid, "SIGHUP");
  }
  await delay(between(random, 200, 1500));
  if (chance(random, 0.3)) await checkIdle(daemon, books, over, clients);
  const end = chance(random, KILLED) ? "kill" : "stop";
  books.count(end);
  const [endedAt, lagMs] = [performance.now(), lag()];
  if (end === "kill") await start.kill();
  else if ((await daemon.stop()) !== 0) books.faults.push("a daemon did not stop well");
  over.abort();
  await clients;
  // Messages of this round name it by its number, which is that of the rounds before it.
  books.rounds.push({ end, endedAt, lagMs });
}

/** Ends the clients. The daemon must then hold nothing any more. */
async function checkIdle(
  daemon: Daemon,
  books: Books,
  over: AbortController,
  clients: Promise<void>,
): Promise<void> {
  books.count("idle");
  over.abort();
  await clients;
  const isIdle = async () => {
    const { openExchanges, bufferedBytes } = await daemon.status();
    return openExchanges === 0 && bufferedBytes === 0;
  };
  if (await becomesTrue(isIdle, IDLE_WITHIN_MS)) return;
  const { openExchanges, bufferedBytes } = await daemon.status();
  books.faults.push(`an idle daemon has ${openExchanges} open exchanges, ${bufferedBytes} buffered bytes`);
}
