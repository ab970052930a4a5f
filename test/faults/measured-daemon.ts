import type { TestContext } from "node:test";
import type { Config } from "../../src/core/config/config.ts";
import { peakBytes } from "../chaos/process-figures.ts";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { TEST_KEY } from "../helpers/gate/gate.ts";
import { keyInFile } from "../helpers/keychain/key-file.ts";

const MIB = 1024 * 1024;

/** Why the memory of another process cannot be seen here, for `test(..., { skip })`; false when it can. */
export const noMeasure: string | false =
  process.platform !== "linux" && "needs Linux: the memory of a process is read from /proc";

/** Something that is done to a daemon. */
export type Act = (daemon: Daemon) => Promise<void>;

/**
 * How many bytes more a fresh daemon had at once, at the most, while `act` went on than while `usual` did, which is as much
 * work of an ordinary kind: garbage is collected late, whatever it comes from. A process of its own for each measurement:
 * in one that has lived, memory that was freed hides what is taken.
 */
export async function measureGrowth(
  t: TestContext,
  { baseUrl, limits = {} }: { baseUrl: string; limits?: Partial<Config["limits"]> },
  usual: Act,
  act: Act,
): Promise<number> {
  const { config } = keyInFile(t, baseUrl, TEST_KEY);
  const daemon = await startDaemon(t, { config: { ...config, limits } });
  await usual(daemon);
  const before = peakBytes(daemon.pid);
  await act(daemon);
  const grown = peakBytes(daemon.pid) - before;
  t.diagnostic(`${Math.round(grown / MIB)} MiB more than ${Math.round(before / MIB)} MiB`);
  return grown;
}
