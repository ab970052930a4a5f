import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Config } from "../../../src/core/config/config.ts";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import type { Tokens } from "../../../src/core/usage/reading.ts";
import type { Sandbox } from "../../../src/sandbox/server.ts";
import { openSandbox } from "../../sandbox/sandbox-client.ts";
import { startDaemon, type Daemon, type DaemonOptions } from "../daemon/daemon.ts";
import { startGate, TEST_KEY, type TestGate } from "../gate/gate.ts";
import { writeKeyFile } from "../keychain/key-file.ts";

/** Starts a gate for a sandbox, which counts requests and tokens itself. Both end with the test. */
export async function startGateWithSandbox(
  t: TestContext,
  config: Partial<Config> = {},
): Promise<{ gate: TestGate; sandbox: Sandbox }> {
  const sandbox = await openSandbox(t, { keys: [{ name: "default", secret: TEST_KEY, group: "all" }] });
  return { gate: await startGate(t, sandbox.baseUrl, { config }), sandbox };
}

/** Starts a real daemon for a sandbox in this process. Both end with the test. */
export async function startDaemonWithSandbox(
  t: TestContext,
  options: Omit<DaemonOptions, "config"> & { config?: object } = {},
): Promise<{ daemon: Daemon; sandbox: Sandbox }> {
  const sandbox = await openSandbox(t, { keys: [{ name: "default", secret: TEST_KEY, group: "all" }] });
  const { config } = writeKeyFile(t, sandbox.baseUrl, TEST_KEY);
  const daemon = await startDaemon(t, { ...options, config: { ...options.config, ...config } });
  return { daemon: withSettledLedger(daemon), sandbox };
}

/** Starts a real daemon for a local model server, which serves Chat Completions only, and usage only on request. */
export async function startDaemonWithModelServer(
  t: TestContext,
): Promise<{ daemon: Daemon; sandbox: Sandbox }> {
  const sandbox = await openSandbox(t, { profile: "ollama" });
  const config = { upstreams: { ollama: { baseUrl: sandbox.baseUrl, auth: "none" } } };
  return { daemon: withSettledLedger(await startDaemon(t, { config })), sandbox };
}

function withSettledLedger(daemon: Daemon): Daemon {
  // The record is written at the end of a stream, and a tool may not wait for that end after the last event.
  const ledger = async () => {
    while ((await daemon.status()).openExchanges > 0) await setImmediate();
    return daemon.ledger();
  };
  return { ...daemon, ledger };
}

/** Fails unless the ledger's totals equal those that the sandbox has billed, for each key and route. */
export function assertLedgerMatchesBilling(records: readonly UsageRecord[], sandbox: Sandbox): void {
  const totals: ReturnType<Sandbox["counts"]> = [];
  for (const { key, route, tokens } of records) {
    let row = totals.find((known) => known.key === key && known.route === route);
    if (row === undefined) totals.push((row = { key, route, count: { requests: 0, ...ZERO_TOKENS } }));
    row.count.requests += 1;
    row.count.input_uncached += tokens?.input_uncached ?? 0;
    row.count.cache_read += tokens?.cache_read ?? 0;
    row.count.cache_write += tokens?.cache_write ?? 0;
    row.count.output += tokens?.output ?? 0;
    row.count.reasoning += tokens?.reasoning ?? 0;
  }
  assert.deepEqual(totals, sandbox.counts());
}

const ZERO_TOKENS = { input_uncached: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0 };

/** Fails unless the record has every field of `expected`. `label` identifies the record in the failure. */
export function assertRecordHas(
  record: UsageRecord | undefined,
  expected: Partial<UsageRecord>,
  label: string,
): void {
  const names = Object.keys(expected) as (keyof UsageRecord)[];
  const held = Object.fromEntries(names.map((name) => [name, record?.[name]]));
  assert.deepEqual({ label, ...held }, { label, ...expected });
}

/** Token counts as an SDK reports them; fields that it does not have are left out. */
interface SdkCounts {
  uncached: number;
  read: number;
  write5m?: number | undefined;
  write1h?: number | undefined;
  output: number;
  /** null when the service did not report it. */
  reasoning: number | null;
}

/** Returns the token counts that the ledger must have for an SDK's counts. */
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
