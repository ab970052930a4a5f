import assert from "node:assert/strict";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { formatRecord } from "../../../src/core/ledger/format-record.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { homeWithLedger } from "./home-with-ledger.ts";
import { tokens, usageRecord } from "./usage-record.ts";

/** The first day of the periods. */
export const SINCE = "2026-11-01";
const million = tokens({ input_uncached: 1_000_000 });

/** What is recorded. Without it, some requests of both projects. */
interface SceneOptions {
  /** Of the project `shop`. */
  records?: readonly Partial<UsageRecord>[];
  /** Of the project `other`. */
  others?: readonly Partial<UsageRecord>[];
  isRecorded?: boolean;
  env?: Readonly<Record<string, string>>;
}

/** Creates a home without a daemon, with two projects on the branch `main`, `shop` and `other`, and a ledger. */
export function homeWithProjects(
  t: TestContext,
  { records = RECORDS, others = OTHERS, isRecorded = true, env }: SceneOptions = {},
) {
  const prepared = homeWithLedger(t, {}, { ledger: { project: isRecorded } }, env);
  const home = realpathSync(prepared.home);
  const [shop, other] = [join(home, "shop"), join(home, "other")];
  for (const root of [shop, other]) {
    mkdirSync(join(root, ".git"), { recursive: true });
    mkdirSync(join(root, "src"));
    writeFileSync(join(root, ".git", "HEAD"), "ref: refs/heads/main\n");
  }
  const all = [
    ...records.map((changes) => usageRecord({ project: shop, branch: "main", ...changes })),
    ...others.map((changes) => usageRecord({ project: other, branch: "main", ...changes })),
  ].map((record) => (isRecorded ? record : { ...record, project: null, branch: null }));
  const lines = all.map((record) => `${formatRecord(record)}\n`).join("");
  writeFileSync(join(prepared.directory, "2026-11-21.ndjson"), lines, { mode: 0o600 });
  const args = ["--config", prepared.configFile];
  const usage = async (...words: string[]) =>
    JSON.parse((await prepared.command("usage", ...words, "--since", SINCE, "--json")).stdout) as Document;
  return { ...prepared, shop, other, args, usage };
}

const RECORDS: Partial<UsageRecord>[] = [
  { session: "s1", tool: "codex", tokens: million },
  { session: "s1", tool: "codex", agent: "a1", agent_kind: "subagent", tokens: million },
  { session: "s2", tool: "claude-code", model: "claude-sonnet-5", tokens: million, usage: "partial" },
  { session: "s2", tool: "claude-code", model: "house-model", tokens: million, branch: "try" },
  { session: "s3", tool: "codex", model: "gpt-5", tokens: million, ts: "2026-11-21T11:00:00.000Z" },
];
const OTHERS: Partial<UsageRecord>[] = [{ session: "secret", tool: "codex", tokens: million }];

/** Of a document of `usage --json`. */
interface Document {
  rows: Record<string, unknown>[];
  total: Record<string, unknown>;
}

/** Asserts that the answer of a tool of `tollkeeper mcp` has the figures of a document, without some fields of its rows. */
export function assertSameFigures(answer: Record<string, unknown>, expected: Document): void {
  const { rows, total } = answer as unknown as Document;
  assert.equal(rows.length, expected.rows.length);
  for (const [at, row] of rows.entries()) assertSameRow(row, expected.rows[at]);
  assertSameRow(total, expected.total);
}

function assertSameRow(given: Record<string, unknown>, row: Record<string, unknown> | undefined): void {
  assert.ok(Object.keys(given).length > 10);
  assert.equal(typeof given["cost"], "string");
  for (const [field, value] of Object.entries(given))
    if (field !== "cost") assert.deepEqual(value, row?.[field], field);
}
