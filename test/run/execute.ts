// Runs the test files given and reports on them. Started by test/run.ts, in the environment of the tests.
import { run } from "node:test";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { report } from "./reporter.ts";

const files = process.argv.slice(2).map((file) => resolve(file));
/** Several times as long as any file takes. A file that waits for something that never comes must fail, not hang. */
const FILE_LIMIT_MS = 600_000;
// Most test files wait for processes and sockets rather than compute.
const events = run({ files, concurrency: 2 * availableParallelism(), timeout: FILE_LIMIT_MS });
// Until a test passes: a run without tests proves nothing.
process.exitCode = 1;
let hasFailed = false;
events.on("test:fail", () => {
  hasFailed = true;
  process.exitCode = 1;
});
events.on("test:pass", () => (process.exitCode = hasFailed ? 1 : 0));
for await (const text of report(events)) process.stdout.write(text);
