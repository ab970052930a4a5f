import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { launchDaemon, type Daemon } from "./daemon.ts";
import { removeDirectory } from "../process/scratch-directory.ts";

/** A daemon that can be killed and started again in its home, on its port. */
export interface KillableDaemon {
  /** The one that was started last. */
  daemon(): Daemon;
  /** Resolves once the present one listens; while one is started, once that does. */
  up(): Promise<Daemon>;
  /** Ends it with SIGKILL, and starts another one. Resolves once that listens. */
  killAndRestart(): Promise<void>;
}

/** Starts such a daemon. The last one ends with the test. */
export async function startKillableDaemon(t: TestContext, config: object): Promise<KillableDaemon> {
  const home = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  let started = launchDaemon(home, { port: 0, config });
  t.after(async () => {
    await started.kill();
    removeDirectory(home);
  });
  let up = started.ready;
  let daemon = await up;
  const restart = async () => {
    await started.kill();
    started = launchDaemon(home, { port: daemon.port, config });
    daemon = await started.ready;
    return daemon;
  };
  return {
    daemon: () => daemon,
    up: () => up,
    async killAndRestart() {
      up = restart();
      await up;
    },
  };
}
