// `npm run test:tools [NAME...]`: installs real tools and libraries, connects, runs and disconnects them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { killLeftovers } from "../helpers/process/run-bounded.ts";
import { renderResults, RESULTS_VARIABLE } from "./results.ts";

/** Three times as long as all tools take, or twice the first time, when they are downloaded. What takes longer hangs. */
const LIMIT_MS = 40 * 60_000;

const directory = fileURLToPath(new URL(".", import.meta.url));
const files = readdirSync(directory).filter((file) => file.endsWith(".tools.ts"));
const scratch = mkdtempSync(join(tmpdir(), "tollkeeper-tools-"));
const results = join(scratch, "results");
const names = process.argv.slice(2).map((name) => `--test-name-pattern=^${name}[@ ]`);
const args = ["--import", "tsx", "--test", "--test-reporter=spec", ...names];
const child = spawn(process.execPath, [...args, ...files.map((file) => join(directory, file))], {
  // All homes are in the scratch directory.
  env: { ...process.env, TMPDIR: scratch, [RESULTS_VARIABLE]: results },
  stdio: "inherit",
  timeout: LIMIT_MS,
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => child.kill(signal));
const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
killLeftovers(scratch);
console.log(`\n${renderResults(results)}`);
// The test runner ends by itself at the signal, and says nothing of what it leaves out.
if (performance.now() >= LIMIT_MS)
  console.log(
    `test:tools was ended after ${LIMIT_MS / 60_000} minutes, with tests left. To take some tools, name them`,
  );
else if (signal !== null) console.log(`test:tools was ended by ${signal}`);
rmSync(scratch, { recursive: true, force: true });
process.exitCode = code ?? 1;
