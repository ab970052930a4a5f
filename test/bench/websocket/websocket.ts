import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { Agent, request, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import { launchDaemon } from "../../helpers/daemon/daemon.ts";
import { median, residentBytes } from "../../helpers/process/process-metrics.ts";
import { removeDirectory } from "../../helpers/process/scratch-directory.ts";
import { readCpu } from "../cpu.ts";
import { startTurnUpstream } from "./upstream.ts";

/** What a turn costs on a WebSocket and by POST, and what open WebSockets hold. */
export interface WebSocketResult {
  /** By transport. Processor time of tollkeeper, and the wait for the first byte beyond that of a direct request, in microseconds. */
  turns: Record<Transport, { cpuUs: number; firstAddedUs: number }>;
  /** Resident memory of tollkeeper per WebSocket, in KB: once open, and after one turn on each. */
  restKb: { open: number; used: number };
  /** Resident memory with all of them at rest, in MB, oldest first. */
  flatMb: number[];
  faults: string[];
}

type Transport = "post" | "websocket";

/** A tool call's result, as Codex sends it: instructions and tools are repeated, and a POST has the history, too. */
const TURN = {
  type: "response.create",
  model: "gpt-5.5",
  stream: true,
  store: false,
  input: "x".repeat(20_000),
};

const BLOCK = 200;
const BLOCKS_PER_ROUND = 3;
const SOCKETS = 1_000;
const AT_ONCE = 50;
const SAMPLES = 6;
const SAMPLE_MS = 5_000;

/** Measures this with a daemon of its own. */
export async function measureWebSocket(
  rounds: number,
  onProgress: (what: string) => void,
): Promise<WebSocketResult> {
  const upstream = await startTurnUpstream();
  const home = mkdtempSync(join(tmpdir(), "tollkeeper-bench-"));
  const key = join(home, "key");
  writeFileSync(key, "key-of-the-bench\n", { mode: 0o600 });
  const { baseUrl } = upstream;
  const config = { upstreams: { default: { baseUrl, keySource: { file: key }, websocket: "auto" } } };
  const start = launchDaemon(home, { config });
  try {
    const daemon = await start.ready;
    onProgress("turns on a WebSocket and by POST");
    const turns = await measureTurns(baseUrl, `${daemon.url}/v1`, daemon.pid, rounds);
    onProgress(`${SOCKETS} WebSockets at rest`);
    const rest = await measureRest(daemon.port, daemon.pid);
    const sent = (rounds * BLOCKS_PER_ROUND + 1) * BLOCK * 2 + SOCKETS;
    const records = await daemon.ledger();
    const faults =
      records.length === sent ? [] : [`${records.length} records of ${sent} turns on WebSockets and by POST`];
    return { turns, ...rest, faults };
  } finally {
    await start.kill();
    upstream.close();
    removeDirectory(home);
  }
}

async function measureTurns(
  direct: string,
  through: string,
  pid: number,
  rounds: number,
): Promise<WebSocketResult["turns"]> {
  const ways = { post: [postTo(direct), postTo(through)], websocket: [socketTo(direct), socketTo(through)] };
  const found = { post: { cpu: [], added: [] }, websocket: { cpu: [], added: [] } } as Record<
    Transport,
    { cpu: number[]; added: number[] }
  >;
  // The first block warms up.
  for (let block = 0; block <= rounds * BLOCKS_PER_ROUND; block += 1)
    for (const transport of ["post", "websocket"] as const) {
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
  return { post: summary(found.post), websocket: summary(found.websocket) };
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

function socketTo(baseUrl: string): Turn {
  const socket = openSocket(baseUrl);
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

function openSocket(baseUrl: string): WebSocket {
  return new WebSocket(`${baseUrl.replace("http", "ws")}/responses`, { perMessageDeflate: false });
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

async function measureRest(port: number, pid: number): Promise<Pick<WebSocketResult, "restKb" | "flatMb">> {
  await delay(SAMPLE_MS);
  const before = residentBytes(pid);
  const sockets: WebSocket[] = [];
  const perSocketKb = () => (residentBytes(pid) - before) / SOCKETS / 1024;
  while (sockets.length < SOCKETS) {
    const some = Array.from({ length: AT_ONCE }, () => openSocket(`http://127.0.0.1:${port}/v1`));
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
