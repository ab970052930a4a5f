// `npm run crowd -- [--stuck N] [--reading N]`: the memory that a daemon needs for clients that do not read and for uploads that are not
// read, and how long clients that do read wait beside them.
import { spawnSync } from "node:child_process";
import type { TestContext } from "node:test";
import { parseArgs } from "node:util";
import { startDaemon, type Daemon } from "../../helpers/daemon/daemon.ts";
import { writeKeyFile } from "../../helpers/keychain/key-file.ts";
import { measureBeside, openCrowd, startCrowdUpstream, type CrowdSample } from "./crowd.ts";

const MIB = 1024 * 1024;
const REQUESTS_EACH = 50;

const { values } = parseArgs({
  options: {
    stuck: { type: "string", default: "1000" },
    reading: { type: "string", default: "50" },
    "in-namespace": { type: "boolean", default: false },
  },
});
if (values["in-namespace"] || !runInNamespace()) await run(Number(values.stuck), Number(values.reading));

/**
 * Runs this program in a network of its own, with small buffers in the kernel: with large ones a thousand stuck connections
 * exhaust what the kernel allows all of TCP, and the whole machine stalls. Returns false where that is not possible.
 */
function runInNamespace(): boolean {
  const set = "ip link set lo up && cd /proc/sys/net/ipv4 && echo 4096 16384 262144 | tee tcp_wmem tcp_rmem";
  const enter = ["--map-root-user", "--net", "sh", "-c"];
  if (spawnSync("unshare", [...enter, set]).status !== 0) return false;
  const self = [process.execPath, ...process.execArgv, ...process.argv.slice(1), "--in-namespace"];
  const script = `(${set}) >/dev/null && ulimit -n $(ulimit -Hn) && exec "$@"`;
  const { status } = spawnSync("unshare", [...enter, script, "sh", ...self], { stdio: "inherit" });
  process.exitCode = status ?? 1;
  return true;
}

async function run(stuck: number, reading: number): Promise<void> {
  const endings: (() => unknown)[] = [];
  const context = { after: (end: () => unknown) => void endings.unshift(end) } as unknown as TestContext;
  try {
    const upstream = await startCrowdUpstream(context);
    const { config } = writeKeyFile(context, upstream, "some-key");
    const daemon = await startDaemon(context, { config });
    await measureBeside(daemon, reading, REQUESTS_EACH);
    report(`${reading} clients that read`, await measureBeside(daemon, reading, REQUESTS_EACH));
    await reportCrowd(daemon, "responses", stuck, reading);
    await reportCrowd(daemon, "uploads", stuck, reading);
  } finally {
    for (const end of endings) await end();
  }
}

async function reportCrowd(
  daemon: Daemon,
  kind: "responses" | "uploads",
  stuck: number,
  reading: number,
): Promise<void> {
  const end = await openCrowd(daemon, kind, stuck);
  report(`beside ${stuck} ${kind} that nobody reads`, await measureBeside(daemon, reading, REQUESTS_EACH));
  await end();
  report("after they have left", await measureBeside(daemon, reading, REQUESTS_EACH));
}

function report(what: string, { residentBytes, bufferedBytes, timesMs }: CrowdSample): void {
  const percentile = (share: number) => timesMs[Math.floor(timesMs.length * share)]?.toFixed(1);
  const memory = `${Math.round(residentBytes / MIB)} MiB, ${Math.round(bufferedBytes / MIB)} of them waiting`;
  console.log(`${what}: p50 ${percentile(0.5)} ms, p99 ${percentile(0.99)} ms; ${memory}`);
}
