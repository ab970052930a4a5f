import { readCheckpoint } from "../../adapters/ledger-file.ts";
import { ledgerDirectory, metricsPath } from "../../adapters/paths.ts";
import type { Config } from "../../core/config/config.ts";
import { parseMetricsState } from "../../core/metrics/metrics-state.ts";
import { UsageMetrics } from "../../core/metrics/usage-metrics.ts";
import { countAfter } from "../../daemon/metrics/count-after.ts";
import { loadPrices } from "../prices/load-prices.ts";

/**
 * Counts what a daemon would have counted by now: what its checkpoint has, and the ledger after it; without a checkpoint all of the ledger.
 * Writes nothing. Throws a Failure when the ledger cannot be read.
 */
export async function countLedger(config: Config): Promise<UsageMetrics> {
  const known = readCheckpoint(metricsPath(), parseMetricsState);
  const usage = new UsageMetrics(known?.state.usage);
  const directory = known?.state.directory ?? ledgerDirectory(config);
  const cursor = known?.cursor ?? { days: {}, since: null };
  await countAfter({ directory, cursor }, usage, await loadPrices(config), () => true);
  return usage;
}
