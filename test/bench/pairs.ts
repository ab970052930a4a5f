// `npm run bench:pairs -- REF [--pairs N]`: what a small request costs, beside what it cost at a commit. Both builds run in turn, each time in
// a fresh process, so that whatever slows the machine down slows both. Exits with 1 unless it is proved that at most 5 % were added.
import { execFileSync } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Cleanup } from "./cleanup.ts";
import { measureLoad } from "./measure.ts";
import { SMALL_BODY_BYTES } from "./request.ts";
import { openSite, type Site } from "./site.ts";
import { medianInterval } from "./statistics.ts";
import { Subject } from "./subject.ts";
import type { Target } from "./targets/target.ts";
import { tollkeeper, tollkeeperOf } from "./targets/tollkeeper.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Most that the upper end of the interval may be. */
const AT_MOST = 1.05;
/** Until all code on the path is compiled; what follows is measured. */
const WARM_UP_REQUESTS = 4_000;
const REQUESTS = 5_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { pairs: { type: "string", default: "20" } },
});
const [ref] = positionals;
if (ref === undefined) throw new Error("type: npm run bench:pairs -- REF");

const cleanup = new Cleanup();
try {
  const site = await openSite(cleanup);
  const before = tollkeeperOf("before", build(ref, site));
  const ratios: number[] = [];
  for (let pair = 0; pair < Number(values.pairs); pair += 1) {
    // The first of two may find a cooler processor.
    const order = pair % 2 === 0 ? [before, tollkeeper] : [tollkeeper, before];
    const costs = new Map<Target, number>();
    for (const target of order) costs.set(target, await measureCost(target, site));
    const [was = Number.NaN, is = Number.NaN] = [costs.get(before), costs.get(tollkeeper)];
    ratios.push(is / was);
    console.log(`${was.toFixed(0)} µs before, ${is.toFixed(0)} µs now: ${(is / was).toFixed(3)}`);
  }
  const { median, low, high } = medianInterval(ratios);
  console.log(
    `median ${median.toFixed(3)}, 95 % interval ${low.toFixed(3)} to ${high.toFixed(3)} (at most ${AT_MOST})`,
  );
  process.exitCode = high <= AT_MOST ? 0 : 1;
} finally {
  await cleanup.run();
}

/** Builds the program of a commit, and returns its `main.js`. Its packages are ours unless its lock file differs. */
function build(commit: string, { directory }: Site): string {
  const tree = join(directory, "before");
  run(ROOT, "git", "worktree", "add", "--detach", tree, commit);
  cleanup.after(() => run(ROOT, "git", "worktree", "remove", "--force", tree));
  const [ours, theirs] = [ROOT, tree].map((at) => readFileSync(join(at, "package-lock.json"), "utf8"));
  if (ours === theirs) symlinkSync(join(ROOT, "node_modules"), join(tree, "node_modules"));
  else run(tree, "npm", "ci");
  run(tree, "npm", "run", "build");
  return join(tree, "dist/main.js");
}

function run(cwd: string, file: string, ...args: string[]): void {
  execFileSync(file, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });
}

/** Starts a target, and returns the CPU time of a small request in microseconds once it is warm. */
async function measureCost(target: Target, site: Site): Promise<number> {
  const subject = await Subject.start(target, site);
  try {
    await send(WARM_UP_REQUESTS);
    const { cpuUs, requests } = await send(REQUESTS);
    return cpuUs / requests;
  } finally {
    await subject.stop();
  }

  async function send(requests: number) {
    const load = { response: "json", bodyBytes: SMALL_BODY_BYTES, connections: 16, isFresh: false } as const;
    const measured = await measureLoad(site, subject, { ...load, requests, forMs: 60_000 });
    if (measured.faults.length > 0) throw new Error(measured.faults.join("\n"));
    return measured;
  }
}
