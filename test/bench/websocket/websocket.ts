import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { Agent, request, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import { launchDaemon, type Daemon } from "../../helpers/daemon/daemon.ts";
import { median, residentBytes } from "../../helpers/process/process-metrics.ts";
import { removeDirectory } from "../../helpers/process/scratch-directory.ts";
import { readCpu } from "../cpu.ts";
import { startTurnUpstream } from "./upstream.ts";

/** What a turn costs on a WebSocket and by POST, and what open WebSockets hold. */
export interface WebSocketResult {
  /** By transport. Processor time of tollkeeper, and the wait for the first byte beyond that of a direct request, in microseconds. */
  turns: Record<Transport, { cpuUs: number; firstAddedUs: number }>;
  /** By whether messages are compressed. */
  rest: Record<"websocket" | "compressed", RestResult>;
  faults: string[];
}

/** What open WebSockets hold in a tollkeeper that has just been started. */
interface RestResult {
  /** Resident memory per WebSocket, in KB: once open, and after one turn on each. */
  restKb: { open: number; used: number };
  /** Resident memory with all of them at rest, in MB, oldest first. */
  flatMb: number[];
}

const TRANSPORTS = ["post", "websocket", "compressed"] as const;

type Transport = (typeof TRANSPORTS)[number];

/** A tool call's result, as Codex sends it: instructions and tools are repeated, and a POST has the history, too. 20 KB. */
const TURN = {
  type: "response.create",
  model: "gpt-5.5",
  stream: true,
  store: false,
  input: randomBytes(15_000).toString("base64"),
};

const BLOCK = 200;
const BLOCKS_PER_ROUND = 3;
const SOCKETS = 1_000;
const AT_ONCE = 50;
const SAMPLES = 6;
const SAMPLE_MS = 5_000;

/** Measures this with daemons of its own. */
export async function measureWebSocket(
  rounds: number,
  onProgress: (what: string) => void,
): Promise<WebSocketResult> {
  const upstream = await startTurnUpstream();
  const { baseUrl } = upstream;
  const faults: string[] = [];
  const measureRestWith = (perMessageDeflate: boolean) => {
    onProgress(`${SOCKETS} WebSockets at rest${perMessageDeflate ? ", compressed" : ""}`);
    return withDaemon(baseUrl, { turns: SOCKETS, faults }, ({ port, pid }) =>
      measureRest(port, pid, perMessageDeflate),
    );
  };
  try {
    onProgress("turns on a WebSocket and by POST");
    const taken = (rounds * BLOCKS_PER_ROUND + 1) * BLOCK * TRANSPORTS.length;
    const turns = await withDaemon(baseUrl, { turns: taken, faults }, ({ url, pid }) =>
      measureTurns(baseUrl, `${url}/v1`, pid, rounds),
    );
    const rest = { websocket: await measureRestWith(false), compressed: await measureRestWith(true) };
    return { turns, rest, faults };
  } finally {
    upstream.close();
  }
}

/** Measures with a daemon that has just been started. Notes if it has not one record for each turn. */
async function withDaemon<Result>(
  baseUrl: string,
  { turns, faults }: { turns: number; faults: string[] },
  measure: (daemon: Daemon) => Promise<Result>,
): Promise<Result> {
  const home = mkdtempSync(join(tmpdir(), "tollkeeper-bench-"));
  const key = join(home, "key");
  writeFileSync(key, "key-of-the-bench\n", { mode: 0o600 });
  const config = { upstreams: { default: { baseUrl, keySource: { file: key }, websocket: "auto" } } };
  const start = launchDaemon(home, { config });
  try {
    const daemon = await start.ready;
    const result = await measure(daemon);
    const { length } = await daemon.ledger();
    if (length !== turns) faults.push(`${length} records of ${turns} turns on WebSockets and by POST`);
    return result;
  } finally {
    await start.kill();
    removeDirectory(home);
  }
}

async function measureTurns(
  direct: string,
  through: string,
  pid: number,
  rounds: number,
): Promise<WebSocketResult["turns"]> {
  const ways = {
    post: [postTo(direct), postTo(through)],
    websocket: [socketTo(direct, false), socketTo(through, false)],
    compressed: [socketTo(direct, true), socketTo(through, true)],
  };
  const found: Record<Transport, { cpu: number[]; added: number[] }> = {
    post: { cpu: [], added: [] },
    websocket: { cpu: [], added: [] },
    compressed: { cpu: [], added: [] },
  };
  // The first block warms up.
  for (let block = 0; block <= rounds * BLOCKS_PER_ROUND; block += 1)
    for (const transport of TRANSPORTS) {
      const [alone, proxied] = ways[transport].map((turn) => () => takeTurns(turn));
      const base = (await alone?.()) ?? Number.NaN;
      const before = readCpu([pid]).ranNs;
      const first = (await proxied?.()) ?? Number.NaN;
      const cpu = (readCpu([pid]).ranNs - before) / BLOCK / 1_000;
      if (block === 0) continue;
      found[transport].cpu.push(cpu);
      found[transport].added.push(first - base);
    }
  for (const turn of Object.values(ways).flat()) turn.close();
  return {
    post: summary(found.post),
    websocket: summary(found.websocket),
    compressed: summary(found.compressed),
  };
}

function summary({ cpu, added }: { cpu: number[]; added: number[] }): WebSocketResult["turns"][Transport] {
  return { cpuUs: median(cpu), firstAddedUs: median(added) };
}

/** Takes a turn, and resolves with the microseconds until its first byte. */
interface Turn {
  take(): Promise<number>;
  close(): void;
}

/** Returns the median wait for the first byte. */
async function takeTurns({ take }: Turn): Promise<number> {
  const waits: number[] = [];
  for (let left = BLOCK; left > 0; left -= 1) waits.push(await take());
  return median(waits);
}

function postTo(baseUrl: string): Turn {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const body = JSON.stringify(TURN);
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return {
    async take() {
      const from = performance.now();
      const req = request(`${baseUrl}/responses`, { method: "POST", agent, headers });
      req.end(body);
      const [res] = (await once(req, "response")) as [IncomingMessage];
      await once(res, "readable");
      const waited = performance.now() - from;
      res.resume();
      await once(res, "end");
      return waited * 1_000;
    },
    close: () => agent.destroy(),
  };
}

function socketTo(baseUrl: string, perMessageDeflate: boolean): Turn {
  const socket = openSocket(baseUrl, perMessageDeflate);
  const opened = once(socket, "open");
  const body = JSON.stringify(TURN);
  return {
    async take() {
      await opened;
      // Several messages may come in one turn of the event loop.
      const completed = untilCompleted(socket);
      const from = performance.now();
      socket.send(body);
      await once(socket, "message");
      const waited = performance.now() - from;
      await completed;
      return waited * 1_000;
    },
    close: () => socket.terminate(),
  };
}

function openSocket(baseUrl: string, perMessageDeflate: boolean): WebSocket {
  return new WebSocket(`${baseUrl.replace("http", "ws")}/responses`, { perMessageDeflate });
}

function untilCompleted(socket: WebSocket): Promise<void> {
  return new Promise((resolve) => {
    const onMessage = (data: Buffer) => {
      if (!data.includes('"type":"response.completed"')) return;
      socket.off("message", onMessage);
      resolve();
    };
    socket.on("message", onMessage);
  });
}

async function measureRest(port: number, pid: number, perMessageDeflate: boolean): Promise<RestResult> {
  await delay(SAMPLE_MS);
  const before = residentBytes(pid);
  const sockets: WebSocket[] = [];
  const perSocketKb = () => (residentBytes(pid) - before) / SOCKETS / 1024;
  while (sockets.length < SOCKETS) {
    const some = Array.from({ length: AT_ONCE }, () =>
      openSocket(`http://127.0.0.1:${port}/v1`, perMessageDeflate),
    );
    await Promise.all(some.map((socket) => once(socket, "open")));
    sockets.push(...some);
  }
  const open = perSocketKb();
  for (let from = 0; from < SOCKETS; from += AT_ONCE)
    await Promise.all(
      sockets.slice(from, from + AT_ONCE).map((socket) => {
        const completed = untilCompleted(socket);
        socket.send(JSON.stringify(TURN));
        return completed;
      }),
    );
  const flatMb: number[] = [];
  for (let left = SAMPLES; left > 0; left -= 1) {
    await delay(SAMPLE_MS);
    flatMb.push(residentBytes(pid) / 1024 / 1024);
  }
  const used = perSocketKb();
  for (const socket of sockets) socket.terminate();
  return { restKb: { open, used }, flatMb };
}
