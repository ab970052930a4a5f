import { EventEmitter, once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { openConfigFile } from "../../../src/adapters/config-file.ts";
import type { Problem } from "../../../src/core/config/problem.ts";
import type { Config } from "../../../src/core/config/config.ts";
import type { ConfigSource } from "../../../src/ports.ts";
import { scratchDirectory } from "../process/scratch-directory.ts";

/** Text of a good configuration that is told from others by its port. */
export function withPort(port: number): string {
  return `{ "listen": { "port": ${port} } }\n`;
}

/** An open configuration file and all that it has told. */
export interface WatchedConfig {
  path: string;
  source: ConfigSource;
  ports: number[];
  problems: Problem[][];
  /** Does `act` and resolves when a configuration with this port was told. */
  waitForPort(port: number, act: () => void): Promise<void>;
  /** Does `act` and resolves with the next problems told. */
  waitForProblems(act: () => void): Promise<Problem[]>;
}

/** Opens a configuration file and listens to all that it tells; closed with the test. */
export async function watchConfig(t: TestContext, path: string): Promise<WatchedConfig> {
  const source = await openConfigFile(path);
  t.after(() => source.close());
  const told = new EventEmitter();
  const ports: number[] = [];
  const problems: Problem[][] = [];
  source.onChange((config: Config) => {
    ports.push(config.listen.port);
    // It is in force once the source knows that nothing is in its way.
    setImmediate(() => told.emit(`port ${config.listen.port}`));
    return Promise.resolve([]);
  });
  source.onProblems((found) => {
    problems.push(found);
    told.emit("problems", found);
  });
  return {
    path,
    source,
    ports,
    problems,
    async waitForPort(port, act) {
      const heard = once(told, `port ${port}`, deadline());
      act();
      await heard;
    },
    async waitForProblems(act) {
      const heard = once(told, "problems", deadline());
      act();
      const [found] = (await heard) as [Problem[]];
      return found;
    },
  };
}

/** A followed file with port 1 in it. */
export async function watchNewConfig(t: TestContext): Promise<WatchedConfig> {
  const path = join(scratchDirectory(t), "config.jsonc");
  writeFileSync(path, withPort(1));
  return watchConfig(t, path);
}

/** Turns a wait for what never comes into a failure. */
function deadline(): { signal: AbortSignal } {
  return { signal: AbortSignal.timeout(20_000) };
}
