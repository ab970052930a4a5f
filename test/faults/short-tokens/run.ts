// `npm run short-tokens -- [--seconds N]`: a real daemon whose key is a token that lives for 30 seconds, from a command that fails one time
// in three and hangs one time in ten. 50 requests a second, while the daemon's clock leaps. Which requests fail, and which need not?
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { request, type ClientRequest, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startDaemon, type Daemon } from "../../helpers/daemon/daemon.ts";
import { removeDirectory } from "../../helpers/process/scratch-directory.ts";
import { MESSAGE, sendJson, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { isNeedless, readCalls, SCRIPT, uptimeMs } from "./command.ts";

const [LIFE_MS, LIMIT_MS, EVERY_MS, LEAP_EVERY_MS] = [30_000, 2_000, 20, 15_000];

/** What the daemon's clock is set to, one after the other. */
const LEAPS = ["+1h", "+0h", "-2h", "-1h", "+10m", "-20s", "+20s", "+0h"];

const FAKE_CLOCK = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

interface Failed {
  at: number;
  until: number;
  /** 0 if the connection was reset. */
  status: number;
}

const { values } = parseArgs({ options: { seconds: { type: "string", default: "180" } } });
const endings: (() => unknown)[] = [];
const context = { after: (end: () => unknown) => void endings.unshift(end) } as unknown as TestContext;
try {
  if (!existsSync(FAKE_CLOCK)) throw new Error("needs libfaketime on Linux: apt-get install faketime");
  process.exitCode = (await run(Number(values.seconds) * 1_000)) ? 0 : 1;
} finally {
  for (const end of endings) await end();
}

/** Returns whether no request failed that need not, and no token was written anywhere. */
async function run(lengthMs: number): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  context.after(() => removeDirectory(directory));
  const [script, clock] = [join(directory, "token.sh"), join(directory, "clock")];
  writeFileSync(script, SCRIPT, { mode: 0o700 });
  writeFileSync(clock, "+0h");
  let rejected = 0;
  const upstream = await startUpstream(context, ({ headers }, res) => {
    const issuedAt = Number(String(headers["x-api-key"]).replace("sentinel-token-", "")) * 10;
    const isValid = uptimeMs() < issuedAt + LIFE_MS;
    if (!isValid) rejected += 1;
    sendJson(res, isValid ? MESSAGE : { error: { message: "expired" } }, isValid ? 200 : 401);
  });
  const keySource = { command: ["/bin/sh", script], ttlMs: LIFE_MS, timeoutMs: LIMIT_MS };
  const daemon = await startDaemon(context, {
    config: { upstreams: { default: { baseUrl: upstream.baseUrl, keySource } } },
    env: {
      LD_PRELOAD: FAKE_CLOCK,
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_CACHE_DURATION: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
  });
  const { sent, failed, leaps } = await sendAll(daemon, lengthMs, (to) => writeFileSync(clock, to));
  const calls = readCalls(directory);
  const first = calls.find(({ outcome }) => outcome === "token")?.at ?? Infinity;
  const later = failed.filter(({ at }) => at > first);
  const needless = later.filter(({ at, until }) => isNeedless({ at, until }, calls, LIFE_MS));
  const leaks = findLeaks(daemon);
  const count = (outcome: string) => calls.filter((call) => call.outcome === outcome).length;
  console.log(
    [
      `${sent} requests in ${lengthMs / 1_000} seconds, ${leaps} leaps of the clock`,
      `the command ran ${calls.length} times: ${count("token")} tokens, ${count("failed")} failures, ${count("hung")} hung`,
      `${failed.length - later.length} refused before the first token, ${later.length} after it, ${needless.length} needlessly`,
      `${rejected} tokens rejected by the upstream as expired`,
      `status of what failed: ${JSON.stringify(countEach(failed.map(({ status }) => status)))}`,
      `${(await daemon.ledger()).length} records; files with a token in them: ${leaks.length === 0 ? "none" : leaks.join(", ")}`,
    ].join("\n"),
  );
  return needless.length === 0 && rejected === 0 && leaks.length === 0;
}

/** Sends a request every 20 ms, and moves the clock from time to time. Resolves when all have ended. */
async function sendAll(
  daemon: Daemon,
  lengthMs: number,
  setClock: (to: string) => void,
): Promise<{ sent: number; failed: Failed[]; leaps: number }> {
  const failed: Failed[] = [];
  const all: Promise<void>[] = [];
  const startedAt = performance.now();
  let leaps = 0;
  for (let passed = 0; passed < lengthMs; passed = performance.now() - startedAt) {
    const due = Math.floor(passed / EVERY_MS) + 1;
    while (all.length < due) all.push(sendOne(daemon, failed));
    if (passed >= (leaps + 1) * LEAP_EVERY_MS) {
      setClock(LEAPS[leaps % LEAPS.length] ?? "");
      leaps += 1;
    }
    await delay(EVERY_MS / 2);
  }
  await Promise.all(all);
  return { sent: all.length, failed, leaps };
}

/** On a connection of its own: one that is idle may be closed just when a request is sent. */
async function sendOne({ port }: Daemon, failed: Failed[]): Promise<void> {
  const at = uptimeMs();
  const headers = { "content-type": "application/json" };
  const sent = request({
    host: "127.0.0.1",
    port,
    path: "/v1/messages",
    method: "POST",
    headers,
    agent: false,
  });
  sent.end(JSON.stringify({ model: "m", max_tokens: 1, messages: [] }));
  const status = await statusOf(sent).catch(() => 0);
  if (status !== 200) failed.push({ at, until: uptimeMs(), status });
}

async function statusOf(sent: ClientRequest): Promise<number> {
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return response.statusCode ?? 0;
}

/** The daemon's files and outputs that contain a token. */
function findLeaks(daemon: Daemon): string[] {
  const outputs = { stdout: daemon.stdout(), stderr: daemon.stderr() };
  const leaks = Object.entries(outputs).flatMap(([name, text]) => (text.includes("sentinel") ? [name] : []));
  // Fails when it finds none.
  const found = execFileSync("sh", ["-c", 'grep -rl sentinel "$1" || true', "sh", daemon.home]);
  return [...leaks, ...found.toString().split("\n").filter(Boolean)];
}

function countEach(statuses: readonly number[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
