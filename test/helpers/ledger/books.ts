import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Config } from "../../../src/core/config/config.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import type { Tokens } from "../../../src/core/usage/reading.ts";
import type { Sandbox } from "../../../src/sandbox/server.ts";
import { openSandbox } from "../../sandbox/support.ts";
import { startDaemon, type Daemon, type DaemonOptions } from "../daemon/daemon.ts";
import { startGate, TEST_KEY, type TestGate } from "../gate/gate.ts";
import { keyInFile } from "../keychain/key-file.ts";

/** A gate in front of a sandbox that keeps books of its own. Both end with the test. */
export async function startBooks(
  t: TestContext,
  config: Partial<Config> = {},
): Promise<{ gate: TestGate; sandbox: Sandbox }> {
  const sandbox = await openSandbox(t, { keys: [{ name: "default", secret: TEST_KEY, group: "all" }] });
  return { gate: await startGate(t, sandbox.baseUrl, { config }), sandbox };
}

/** A real daemon in front of a sandbox in this process. Both end with the test. */
export async function startDaemonBooks(
  t: TestContext,
  options: Omit<DaemonOptions, "config"> & { config?: object } = {},
): Promise<{ daemon: Daemon; sandbox: Sandbox }> {
  const sandbox = await openSandbox(t, { keys: [{ name: "default", secret: TEST_KEY, group: "all" }] });
  const { config } = keyInFile(t, sandbox.baseUrl, TEST_KEY);
  const daemon = await startDaemon(t, { ...options, config: { ...options.config, ...config } });
  // A tool may leave with the last event of a stream, and not wait for its end, before which the record is written.
  const ledger = async () => {
    while ((await daemon.status()).openExchanges > 0) await setImmediate();
    return daemon.ledger();
  };
  return { daemon: { ...daemon, ledger }, sandbox };
}

/** Fails unless the ledger comes to what the sandbox itself has billed, key by key and route by route. */
export function assertSameBooks(records: readonly UsageRecord[], sandbox: Sandbox): void {
  const books: ReturnType<Sandbox["counts"]> = [];
  for (const { key, route, tokens } of records) {
    let row = books.find((known) => known.key === key && known.route === route);
    if (row === undefined) books.push((row = { key, route, count: { requests: 0, ...NOTHING } }));
    row.count.requests += 1;
    row.count.input_uncached += tokens?.input_uncached ?? 0;
    row.count.cache_read += tokens?.cache_read ?? 0;
    row.count.cache_write += tokens?.cache_write ?? 0;
    row.count.output += tokens?.output ?? 0;
    row.count.reasoning += tokens?.reasoning ?? 0;
  }
  assert.deepEqual(books, sandbox.counts());
}

const NOTHING = { input_uncached: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0 };

/** Fails unless the record holds all that `expected` does. `label` tells records apart in what is then printed. */
export function assertHolds(
  record: UsageRecord | undefined,
  expected: Partial<UsageRecord>,
  label: string,
): void {
  const names = Object.keys(expected) as (keyof UsageRecord)[];
  const held = Object.fromEntries(names.map((name) => [name, record?.[name]]));
  assert.deepEqual({ label, ...held }, { label, ...expected });
}

/** Token counts as an SDK hands them out; what it has no word for is left out. */
export interface SdkCounts {
  uncached: number;
  read: number;
  write5m?: number | undefined;
  write1h?: number | undefined;
  output: number;
  /** null where the service did not say. */
  reasoning: number | null;
}

/** What the ledger must hold for an SDK's counts. */
export function ledgerTokens(counts: SdkCounts): Tokens {
  const { uncached, read, write5m = 0, write1h = 0, output, reasoning } = counts;
  const write = write5m + write1h;
  return {
    input_uncached: uncached,
    cache_read: read,
    cache_write: write,
    cache_write_5m: write5m,
    cache_write_1h: write1h,
    cache_write_30m: 0,
    cache_write_12h: 0,
    cache_write_ttl_unknown: 0,
    input_total: uncached + read + write,
    output,
    reasoning,
    total: uncached + read + write + output,
  };
}
