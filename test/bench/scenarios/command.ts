import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { dayAt } from "../../../src/core/ledger/day.ts";
import { writeDay, writeLedgerConfig } from "../ledger.ts";
import type { Site } from "../site.ts";
import type { Scenario } from "./scenario.ts";

const PROGRAM = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const STATUSLINE = fileURLToPath(new URL("../../../dist/tollkeeper-statusline.js", import.meta.url));

/** A person's day so far. */
const REQUESTS_TODAY = 500;

/** The short commands, by the key of their figure, for the daemon's configuration and for one with {@link REQUESTS_TODAY}. */
const COMMANDS: Readonly<Record<string, (config: string, ledger: string) => readonly string[]>> = {
  usageMs: (_config, ledger) => [PROGRAM, "usage", "--since", "today", "--config", ledger],
  statusMs: (config) => [PROGRAM, "status", "--config", config],
  statuslineMs: (config) => [STATUSLINE, "--config", config],
  keysMs: (config) => [PROGRAM, "key", "list", "--config", config],
  completionMs: () => [PROGRAM, "--get-yargs-completions", "tollkeeper", "usage", "--b"],
};

const BARE_NODE = ["-e", "0"];

/** Commands that people wait for, and that shells and tools run for them. */
export const command: Scenario = {
  name: "command",
  title: "short commands beside a running daemon, whole process; direct is bare node",
  isInQuick: true,
  isInWarmUp: false,
  figures: [
    { key: "usageMs", title: "usage ms", digits: 0 },
    { key: "statusMs", title: "status ms", digits: 0 },
    { key: "statuslineMs", title: "statusline ms", digits: 0 },
    { key: "keysMs", title: "key list ms", digits: 0 },
    { key: "completionMs", title: "completion ms", digits: 0 },
  ],
  async measure(site, subject) {
    const context = await subject.commands;
    const isBare = subject.target.name === "direct";
    const ledger = context === null ? "" : writeToday(site);
    const values: Record<string, number> = {};
    const faults: string[] = [];
    for (const [key, lineOf] of Object.entries(COMMANDS)) {
      if (context === null && !isBare) {
        values[key] = Number.NaN;
        continue;
      }
      const line = context === null ? BARE_NODE : lineOf(context.configFile, ledger);
      const { ms, code } = await run(line, context?.env ?? {}, site);
      values[key] = ms;
      if (code !== 0) faults.push(`${line.join(" ")} exited with ${code}`);
    }
    return { values, faults, trust: null };
  },
};

function writeToday({ directory }: Site): string {
  const ledger = mkdtempSync(join(directory, "today-"));
  writeDay(ledger, dayAt(Date.now()), REQUESTS_TODAY);
  return writeLedgerConfig(ledger);
}

async function run(line: readonly string[], env: NodeJS.ProcessEnv, { placement }: Site) {
  const [program = "", ...args] = [...placement.commandLauncher, process.execPath, ...line];
  const start = performance.now();
  const child = spawn(program, args, {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["pipe", "ignore", "ignore"],
  });
  // As Claude Code has it on standard input.
  child.stdin.end("{}");
  const [code] = (await once(child, "close")) as [number | null];
  return { ms: performance.now() - start, code };
}
