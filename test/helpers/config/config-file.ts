import { EventEmitter, once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { openConfigFile } from "../../../src/adapters/config-file.ts";
import type { Problem } from "../../../src/core/config/problem.ts";
import type { Config } from "../../../src/core/config/config.ts";
import type { ConfigSource } from "../../../src/ports.ts";
import { LIMIT_MS } from "../async/limit.ts";
import { scratchDirectory } from "../process/scratch-directory.ts";

/** Returns the text of a valid configuration, which tests recognise by its port. */
export function withPort(port: number): string {
  return `{ "listen": { "port": ${port} } }\n`;
}

/** An open configuration file and everything it has reported. */
export interface WatchedConfig {
  path: string;
  source: ConfigSource;
  ports: number[];
  problems: Problem[][];
  /** Calls `act` and resolves when a configuration with this port is in force. */
  waitForPort(port: number, act: () => void): Promise<void>;
  /** Calls `act` and resolves with the next problems reported. */
  waitForProblems(act: () => void): Promise<Problem[]>;
}

/** Opens a configuration file and records everything it reports. Closed with the test. */
export async function watchConfig(t: TestContext, path: string): Promise<WatchedConfig> {
  const source = await openConfigFile(path);
  t.after(() => source.close());
  const reports = new EventEmitter();
  const ports: number[] = [];
  const problems: Problem[][] = [];
  source.onChange((config: Config) => {
    ports.push(config.listen.port);
    // The configuration is in force only after the source has received our "no objections".
    setImmediate(() => reports.emit(`port ${config.listen.port}`));
    return Promise.resolve([]);
  });
  source.onProblems((found) => {
    problems.push(found);
    reports.emit("problems", found);
  });
  return {
    path,
    source,
    ports,
    problems,
    async waitForPort(port, act) {
      const reported = once(reports, `port ${port}`, deadline());
      act();
      await reported;
    },
    async waitForProblems(act) {
      const reported = once(reports, "problems", deadline());
      act();
      const [found] = (await reported) as [Problem[]];
      return found;
    },
  };
}

/** Writes and watches a configuration file with port 1. */
export async function watchNewConfig(t: TestContext): Promise<WatchedConfig> {
  const path = join(scratchDirectory(t), "config.jsonc");
  writeFileSync(path, withPort(1));
  return watchConfig(t, path);
}

/**
 * Returns the path of the configuration file that commands use without --config, so that their messages need not name it, and creates its
 * directory. `base` is the directory of configurations within the home directory.
 */
export function usualConfigFile(home: string, base = ".config"): string {
  const directory = join(home, base, "tollkeeper");
  mkdirSync(directory, { recursive: true });
  return join(directory, "config.jsonc");
}

/** Makes a wait for an event that never comes fail. */
function deadline(): { signal: AbortSignal } {
  return { signal: AbortSignal.timeout(LIMIT_MS) };
}
