import type { TestContext } from "node:test";
import type { Config } from "../../src/core/config/config.ts";
import { peakBytes } from "../helpers/process/process-metrics.ts";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { TEST_KEY } from "../helpers/gate/gate.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";

const MIB = 1024 * 1024;

/** Why the memory of another process cannot be measured here, for `test(..., { skip })`; false when it can. */
export const cannotMeasureMemory: string | false =
  process.platform !== "linux" && "needs Linux: the memory of a process is read from /proc";

/** Work for a daemon. */
export type Act = (daemon: Daemon) => Promise<void>;

/**
 * Returns by how many bytes `act` raises the peak memory of a fresh daemon above the peak of `usual`, which is as much work of
 * an ordinary kind: garbage is collected late after any work. Each measurement has its own process, because freed memory of
 * earlier work would hide growth.
 */
export async function measureGrowth(
  t: TestContext,
  { baseUrl, limits = {} }: { baseUrl: string; limits?: Partial<Config["limits"]> },
  usual: Act,
  act: Act,
): Promise<number> {
  const { config } = writeKeyFile(t, baseUrl, TEST_KEY);
  const daemon = await startDaemon(t, { config: { ...config, limits } });
  await usual(daemon);
  const before = peakBytes(daemon.pid);
  await act(daemon);
  const grown = peakBytes(daemon.pid) - before;
  t.diagnostic(`${Math.round(grown / MIB)} MiB more than ${Math.round(before / MIB)} MiB`);
  return grown;
}
