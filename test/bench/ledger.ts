import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { dayFileName } from "../../src/core/ledger/day.ts";
import { tokens, usageRecord } from "../helpers/ledger/usage-record.ts";

const SECONDS = 86_400;
const LINES_AT_ONCE = 5_000;

/** A tool, its model and the upstream, as in a household of several. */
export const TOOLS = [
  ["claude-code", "claude-opus-5", "anthropic", "/messages"],
  ["claude-code", "claude-sonnet-5", "anthropic", "/messages"],
  ["claude-code", "claude-haiku-4-5", "anthropic", "/messages"],
  ["opencode", "claude-sonnet-5", "anthropic", "/messages"],
  ["codex", "gpt-5.4", "openai", "/responses"],
  ["cline", "gpt-5.4", "openai", "/responses"],
  ["zed", "claude-sonnet-5", "anthropic", "/messages"],
] as const;

const upstreamAt = (host: string) => ({ baseUrl: `https://${host}/v1`, keySource: { file: "/nowhere" } });

/** Writes a configuration of which this is the ledger. Returns its path. */
export function writeLedgerConfig(ledger: string): string {
  const path = `${ledger}.json`;
  const upstreams = { anthropic: upstreamAt("api.anthropic.com"), openai: upstreamAt("api.openai.com") };
  writeFileSync(path, JSON.stringify({ upstreams, ledger: { directory: ledger } }));
  return path;
}

/** Writes the records of a day, of some 800 bytes each. */
export function writeDay(ledger: string, day: string, count: number): void {
  writeRecords(ledger, day, count, (at) => recordOf(day, at, count));
}

/** Writes so many records of a day. */
export function writeRecords(
  ledger: string,
  day: string,
  count: number,
  recordAt: (at: number) => object,
): void {
  const file = openSync(join(ledger, dayFileName(day)), "w", 0o600);
  let lines: string[] = [];
  for (let at = 0; at < count; at += 1) {
    lines.push(`${JSON.stringify(recordAt(at))}\n`);
    if (lines.length === LINES_AT_ONCE) {
      writeSync(file, lines.join(""));
      lines = [];
    }
  }
  writeSync(file, lines.join(""));
  closeSync(file);
}

function recordOf(day: string, at: number, count: number): object {
  const [tool, model, upstream, route] = TOOLS[(at * 7919) % TOOLS.length] ?? TOOLS[0];
  const isCut = at % 50 === 0;
  const time = Date.parse(day) + Math.floor((at * SECONDS * 1000) / count);
  return usageRecord({
    id: `${day}-${at}`,
    ts: new Date(time).toISOString(),
    tool,
    session: `session-${at % 40}`,
    user_agent: null,
    key: "default",
    upstream,
    route,
    model,
    model_requested: model,
    outcome: isCut ? "cut" : "completed",
    usage: isCut ? "partial" : "final",
    cut_by: isCut ? "client" : null,
    ttft_ms: 200 + ((at * 31) % 3000),
    duration_ms: 3_500 + ((at * 37) % 20_000),
    raw_usage: null,
    tokens: tokens({
      input_uncached: (at * 41) % 3_000,
      cache_read: (at * 9_973) % 160_000,
      cache_write: (at * 53) % 5_000,
      output: 1 + ((at * 59) % 2_000),
    }),
  });
}
