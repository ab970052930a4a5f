import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Scenario } from "./scenario.ts";

const PROGRAM = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

/** What is run for a target. Node without a program stands beside ours, as the least that any command takes. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  direct: ["-e", "0"],
  tollkeeper: [PROGRAM, "usage"],
};

/** The start of the command line: what every command takes before it has read anything. */
export const command: Scenario = {
  name: "command",
  title: "`tollkeeper usage` without records, whole process; direct is bare node",
  isInQuick: true,
  isInWarmUp: false,
  figures: [{ key: "processMs", title: "process ms", digits: 0 }],
  async measure(_site, { target }) {
    const line = LINES[target.name];
    if (line === undefined) return { values: { processMs: Number.NaN }, faults: [], trust: null };
    const home = mkdtempSync(join(tmpdir(), "bench-command-"));
    try {
      const start = performance.now();
      const env = { PATH: process.env["PATH"], HOME: home, XDG_RUNTIME_DIR: home };
      const child = spawn(process.execPath, line, { env, stdio: "ignore" });
      const [code] = (await once(child, "close")) as [number | null];
      const faults = code === 0 ? [] : [`${line.join(" ")} exited with ${code}`];
      return { values: { processMs: performance.now() - start }, faults, trust: null };
    } finally {
      rmSync(home, { recursive: true });
    }
  },
};
