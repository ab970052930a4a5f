import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { dayOf } from "../../../src/core/ledger/day.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { PROGRAM } from "../daemon/program.ts";
import { homeWithLedger } from "./home-with-ledger.ts";

/** Prepares a ledger with these records. Returns a function that reconciles it with an export. */
export function withLedger(t: TestContext, records: readonly UsageRecord[], config: object = {}) {
  return homeToReconcile(t, records, config).reconcile;
}

/** The same, with one that types the first command that a reason names, as a shell runs it. */
export function homeToReconcile(t: TestContext, records: readonly UsageRecord[], config: object = {}) {
  const files: Record<string, string> = {};
  for (const record of records)
    files[`${dayOf(record.ts)}.ndjson`] =
      `${files[`${dayOf(record.ts)}.ndjson`] ?? ""}${JSON.stringify(record)}\n`;
  const { command, home, env } = homeWithLedger(t, files, config);
  const reconcile = async (text: string, ...args: string[]) => {
    const file = join(home, "export.csv");
    writeFileSync(file, text);
    return command("ledger", "reconcile", file, ...args);
  };
  const type = (output: string) => {
    const line = /^ {2}(tollkeeper .*)$/m.exec(output)?.[1] ?? assert.fail(`no command in ${output}`);
    const script = `tollkeeper() { "$NODE" "$PROGRAM" "$@"; }; ${line}`;
    const variables = { ...env, NODE: process.execPath, PROGRAM };
    return spawnSync("/bin/sh", ["-c", script], { env: variables, encoding: "utf8" });
  };
  return { reconcile, type, command };
}
