// `npm run test:tools [NAME...]`: installs real tools and libraries, connects, runs and disconnects them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { killLeftovers } from "../helpers/process/run-bounded.ts";
import { renderResults, RESULTS_VARIABLE } from "./results.ts";

/** Twice the time for all tools. What takes longer hangs. */
const LIMIT_MS = 20 * 60_000;

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
if (signal !== null) console.log(`test:tools was ended by ${signal}`);
rmSync(scratch, { recursive: true, force: true });
process.exitCode = code ?? 1;
