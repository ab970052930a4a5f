// `npm run bench:guard`: fails when tollkeeper has become slower. Compares CPU time with bare http-proxy-3 in the same run, so that
// neither the machine's speed nor other load matters much.
import { setTimeout as delay } from "node:timers/promises";
import { runBench } from "./bench.ts";
import { type Limit, LIMITS } from "./limits.ts";
import { httpProxy3 } from "./targets/http-proxy-3.ts";
import { tollkeeper } from "./targets/tollkeeper.ts";
import { cpuRatio } from "./verdict.ts";

const ROUNDS = 12;
/** Attempts with fresh processes. A real slowdown exceeds the limit in each of them. */
const TRIES = 4;
/** For minutes after much memory was used, some kernels take it back from whoever has most: identical code came out at 1.5 and at 2.3. */
const REST_MS = 20_000;

let open: readonly Limit[] = LIMITS;
let isTooDear = false;
for (let attempt = 1; open.length > 0 && attempt <= TRIES; attempt += 1) {
  if (attempt > 1) await delay(REST_MS);
  const ratios = await measure(open);
  isTooDear ||= ratios.some(({ limit, ratio }) => ratio > limit.atMost);
  open = ratios.filter(({ limit, ratio }) => !(ratio <= limit.atMost)).map(({ limit }) => limit);
}
if (open.length > 0 && !isTooDear) console.log("NOT JUDGED: the machine is too busy");
process.exitCode = open.length > 0 && isTooDear ? 1 : 0;

/** Measures the scenarios of the limits and prints the results. */
async function measure(limits: readonly Limit[]): Promise<{ limit: Limit; ratio: number }[]> {
  const result = await runBench({
    targets: [httpProxy3, tollkeeper],
    scenarios: limits.map(({ scenario }) => scenario),
    rounds: ROUNDS,
    isQuick: true,
    isFar: false,
    isMeter: false,
    isWebSocket: false,
    isSessions: false,
    onProgress: () => {},
  });
  if (result.faults.length > 0) throw new Error(result.faults.join("\n"));
  return limits.map((limit) => {
    const { scenario, atMost } = limit;
    const ratio = cpuRatio(scenario.name, result);
    const found = Number.isNaN(ratio) ? "not judged, disturbed" : ratio.toFixed(2);
    console.log(
      `${scenario.name}: processor time as times that of http-proxy-3: ${found} (at most ${atMost})`,
    );
    return { limit, ratio };
  });
}
