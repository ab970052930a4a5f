import { existsSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { watch } from "chokidar";
import type { FSWatcher } from "chokidar";
import type { Problem } from "../core/config/problem.ts";
import { defaultConfig } from "../core/config/config.ts";
import type { Config } from "../core/config/config.ts";
import { isSameOutbound } from "../core/config/outbound.ts";
import { messageOf } from "../core/thrown.ts";
import type { ConfigSource, ConfigStatus } from "../ports.ts";
import { configFailure, readConfigFile } from "./config-file/read.ts";
import type { ConfigReading } from "./config-file/read.ts";

export { configFailure, readConfigFile };
export type { ConfigReading, Problem };

/** Silence to wait for after an event, so that a burst of saves is read once. */
const SETTLE_MS = 50;

/** Silence to wait for before a bad or missing file is believed: an editor may be half way through writing it. */
const DOUBT_MS = 250;

const GONE: Problem = {
  path: "",
  line: null,
  message: "the file is gone; the last good configuration stays in force",
};

/**
 * Opens a configuration file and follows it. A missing file means the defaults, until it appears.
 * @throws Failure with all problems, when the file is there and is not good
 */
export async function openConfigFile(path: string): Promise<ConfigSource> {
  const file = new ConfigFile(resolve(path));
  const problems = await file.open();
  if (problems.length === 0) return file;
  await file.close();
  throw configFailure(resolve(path), problems);
}

class ConfigFile implements ConfigSource {
  readonly #path: string;
  #watcher: FSWatcher | null = null;
  #config = defaultConfig;
  #loadedAt = new Date();
  #judgedAt = new Date();
  /** Does the configuration in force come from the file? Then the file's absence is no configuration. */
  #isFromFile = false;
  #exists = false;
  #problems: Problem[] = [];
  #watchProblem: Problem | null = null;
  #events = 0;
  /** Is a look at the file on its way that will see everything up to now? */
  #isLookDue = false;
  /** Looks happen one after another. */
  #looks: Promise<void> = Promise.resolve();
  #isClosed = false;
  /** Puts a configuration in force; the first one is whoever's who asks for it. */
  #apply: (config: Config) => Promise<Problem[]> = () => Promise.resolve([]);
  readonly #problemListeners: ((problems: Problem[]) => void)[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  current(): Config {
    return this.#config;
  }

  status(): ConfigStatus {
    const problems = this.#watchProblem === null ? this.#problems : [...this.#problems, this.#watchProblem];
    return {
      path: this.#path,
      exists: this.#exists,
      loadedAt: this.#loadedAt.toISOString(),
      judgedAt: this.#judgedAt.toISOString(),
      problems,
    };
  }

  onChange(listener: (config: Config) => Promise<Problem[]>): void {
    this.#apply = listener;
  }

  onProblems(listener: (problems: Problem[]) => void): void {
    this.#problemListeners.push(listener);
  }

  /** Reads the file for the first time; returns what is wrong with it. */
  async open(): Promise<Problem[]> {
    await this.reload();
    return this.#problems;
  }

  /** Watches anew, too: the watch may have been lost along with its directory. */
  reload(): Promise<void> {
    this.#looks = this.#looks.then(async () => {
      await this.#watch();
      await this.#look();
    });
    return this.#looks;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#watcher?.close();
  }

  /** Watches before anything is read, so that no change falls between the two. */
  async #watch(): Promise<void> {
    await this.#watcher?.close();
    if (this.#isClosed) return;
    this.#watchProblem = null;
    const watcher = watch(nearestDirectory(this.#path), { ignored: (path) => !leadsTo(this.#path, path) });
    this.#watcher = watcher;
    watcher.on("all", (event) => {
      // With its directory the watch is gone, too; go on from what is left.
      if (event === "unlinkDir") watcher.add(nearestDirectory(this.#path));
      this.#notice();
    });
    // chokidar's own events leave out a write within 5 ms of a chmod; a look too many costs nothing.
    watcher.on("raw", () => this.#notice());
    await new Promise<void>((isReady) => {
      watcher.once("ready", isReady);
      watcher.on("error", (error) => {
        const why = messageOf(error);
        this.#watchProblem = { path: "", line: null, message: `changes are not noticed: ${why}` };
        for (const tell of this.#problemListeners) tell([this.#watchProblem]);
        isReady();
      });
    });
  }

  #notice(): void {
    this.#events += 1;
    if (this.#isLookDue) return;
    this.#isLookDue = true;
    this.#looks = this.#looks.then(async () => {
      await this.#silence(SETTLE_MS);
      this.#isLookDue = false;
      await this.#look();
    });
  }

  /** Resolves when nothing has happened to the file for `ms`. */
  async #silence(ms: number): Promise<void> {
    let seen: number;
    do {
      seen = this.#events;
      await delay(ms);
    } while (seen !== this.#events && !this.#isClosed);
  }

  async #look(): Promise<void> {
    let reading = await readConfigFile(this.#path);
    if (this.#isDoubtful(reading)) {
      await this.#silence(DOUBT_MS);
      reading = await readConfigFile(this.#path);
    }
    if (!this.#isClosed) await this.#judge(reading);
  }

  /** A file can be bad or missing for a moment only, while it is being saved. */
  #isDoubtful(reading: ConfigReading): boolean {
    return !reading.ok || (!reading.exists && this.#isFromFile);
  }

  async #judge(reading: ConfigReading): Promise<void> {
    this.#judgedAt = new Date();
    this.#exists = !reading.ok || reading.exists;
    if (!reading.ok) this.#tell(reading.problems);
    else if (this.#isDoubtful(reading)) this.#tell([GONE]);
    else await this.#accept(reading.config);
  }

  /** Once for each list. */
  #tell(problems: Problem[]): void {
    if (isDeepStrictEqual(problems, this.#problems)) return;
    this.#problems = problems;
    for (const tell of this.#problemListeners) tell(problems);
  }

  async #accept(config: Config): Promise<void> {
    if (isSame(config, this.#config)) {
      // Nothing is new, but that the file says what holds, again.
      this.#isFromFile = this.#exists;
      this.#tell([]);
      return;
    }
    const problems = await this.#apply(config);
    if (problems.length > 0) {
      this.#tell(problems);
      return;
    }
    this.#config = config;
    this.#loadedAt = new Date();
    this.#problems = [];
    this.#isFromFile = this.#exists;
  }
}

/** To whoever compares properties alone, two secrets are the same. */
function isSame(one: Config, other: Config): boolean {
  return isDeepStrictEqual(one, other) && isSameOutbound(one.outbound, other.outbound);
}

/** The file's directory, or the closest one above it that is there. */
function nearestDirectory(path: string): string {
  let directory = dirname(path);
  while (!existsSync(directory)) directory = dirname(directory);
  return directory;
}

/** Is `path` the file, or a directory on the way to it? The rest of those directories is not ours to watch. */
function leadsTo(file: string, path: string): boolean {
  return file === path || file.startsWith(path.endsWith(sep) ? path : path + sep);
}
