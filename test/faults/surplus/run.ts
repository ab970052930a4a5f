// `npm run surplus`: how many clients get a response that is not theirs from an upstream that sends a second one a moment after each
// (SECURITY.md C7), through a daemon and through Node's own agent; and what the pool's care costs where the upstream sends none.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Agent, request, type IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { writeKeyFile } from "../../helpers/keychain/key-file.ts";

const REQUESTS = 2_400;
const CLIENTS = 24;
/** Microseconds between a response and the surplus one. */
const DELAYS = [0, 100, 300, 1_000, 3_000] as const;
/** A response that does not come, because it was taken for that of the request before. */
const LIMIT_MS = 2_000;

const endings: (() => unknown)[] = [];
const context = { after: (end: () => unknown) => void endings.unshift(end) } as unknown as TestContext;
try {
  console.log("                            wrong  failed  connections  p50 ms  p99 ms");
  for (const delayUs of DELAYS) await compare(`${delayUs} µs`, delayUs, CLIENTS);
  await compare("no surplus", null, CLIENTS);
  await compare("no surplus, one client", null, 1);
} finally {
  for (const end of endings) await end();
}

interface Upstream {
  port: number;
  /** Returns how many connections were opened since the last call. */
  countConnections(): Promise<number>;
}

async function compare(what: string, delayUs: number | null, clients: number): Promise<void> {
  const upstream = await startUpstream(delayUs);
  const { config } = writeKeyFile(context, `http://127.0.0.1:${upstream.port}/v1`, "some-key");
  const daemon = await startDaemon(context, { config });
  for (const [subject, port] of [
    ["tollkeeper", daemon.port],
    ["Node's agent", upstream.port],
  ] as const) {
    // What is compiled is faster.
    if (delayUs === null) await sendAll(port, clients);
    await upstream.countConnections();
    const { wrong, failed, timesMs } = await sendAll(port, clients);
    const cells = [wrong, failed, await upstream.countConnections()].map((n) => String(n).padStart(8));
    const times = [0.5, 0.99].map((share) => timesMs[Math.floor(timesMs.length * share)]?.toFixed(2));
    console.log(`${what.padEnd(24)}${cells.join("")}  ${times.join("  ")}  ${subject}`);
  }
}

async function startUpstream(delayUs: number | null): Promise<Upstream> {
  const program = fileURLToPath(new URL("upstream.ts", import.meta.url));
  const delay = delayUs === null ? [] : [String(delayUs)];
  const child: ChildProcess = spawn(process.execPath, [...process.execArgv, program, ...delay], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  context.after(() => child.kill());
  if (child.stdout === null) throw new Error("no output");
  const lines = createInterface(child.stdout);
  const readNumber = async () => Number(((await once(lines, "line")) as [string])[0]);
  return {
    port: await readNumber(),
    countConnections() {
      const count = readNumber();
      child.stdin?.write("\n");
      return count;
    },
  };
}

interface Tally {
  wrong: number;
  failed: number;
  /** In order of length. */
  timesMs: number[];
}

async function sendAll(port: number, clients: number): Promise<Tally> {
  const agent = new Agent({ keepAlive: true });
  const tally: Tally = { wrong: 0, failed: 0, timesMs: [] };
  let sent = 0;
  const run = async () => {
    while (sent < REQUESTS) await sendOne(port, agent, (sent += 1), tally);
  };
  await Promise.all(Array.from({ length: clients }, run));
  agent.destroy();
  tally.timesMs.sort((a, b) => a - b);
  return tally;
}

async function sendOne(port: number, agent: Agent, number: number, tally: Tally): Promise<void> {
  const startedAt = performance.now();
  const sent = request({
    port,
    host: "127.0.0.1",
    path: "/v1/messages",
    method: "POST",
    headers: { "content-type": "application/json" },
    agent,
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  sent.end(`{"model":"m","number":${number}}`);
  try {
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    const body = await text(response);
    if (response.statusCode !== 200) tally.failed += 1;
    else if (body !== `{"own":${number}}`) tally.wrong += 1;
  } catch {
    tally.failed += 1;
  }
  tally.timesMs.push(performance.now() - startedAt);
}
