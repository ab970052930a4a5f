import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, resolve, sep } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { FSWatcher } from "chokidar";
import { formatConfigPath, type Problem } from "../core/config/problem.ts";
import { defaultConfig } from "../core/config/config.ts";
import type { Config } from "../core/config/config.ts";
import { isSameOutbound } from "../core/config/outbound.ts";
import { codeOf } from "../core/failure.ts";
import { isObject } from "../core/json.ts";
import type { ConfigSource, ConfigStatus } from "../ports.ts";
import { checkConfigText, configFailure, layersOf, readConfigFile } from "./config-file/read.ts";
import { MANAGED_PATH } from "./config-file/managed-file.ts";
import type { ConfigReading, ManagedFile, ValidConfig } from "./config-file/read.ts";
import { locateIn, readSources, type ConfigSourceFile } from "./config-file/sources.ts";

export { readAuthorities } from "./config-file/authorities.ts";
export { checkConfigText, configFailure, layersOf, locateIn, MANAGED_PATH, readConfigFile, readSources };
export type { ConfigReading, ConfigSourceFile, ManagedFile, ValidConfig };

/** How long the file must be left alone after an event, so that a burst of saves is read once. */
const SETTLE_MS = 50;

/** How long an invalid or missing file must be left alone before it counts: an editor may be in the middle of a save. */
const RECHECK_MS = 250;

/**
 * How often the file is compared with what was last read. A watch belongs to a directory, not to its name: it is lost when
 * the directory is inaccessible for a moment, or when one of its ancestors is replaced.
 */
const POLL_MS = 2_000;

/** Even a file that is being written all the time is read after this long, and delays no reload. */
const MAX_WAIT_MS = 2_000;

const GONE: Problem = {
  path: "",
  line: null,
  message: "the file no longer exists; the last valid configuration stays in force",
};

/**
 * Opens a user's configuration file and the managed one below it, and watches both. A missing file sets nothing until it appears.
 * @throws Failure with all problems of existing files that are not valid
 */
export async function openConfigFile(path: string, managedPath = MANAGED_PATH): Promise<ConfigSource> {
  const file = new ConfigFile(resolve(path), managedPath);
  const problems = await file.open();
  if (problems.length === 0) return file;
  await file.close();
  throw configFailure(resolve(path), problems);
}

class ConfigFile implements ConfigSource {
  readonly #path: string;
  readonly #managedPath: string;
  #watcher: FSWatcher | null = null;
  #config = defaultConfig;
  #loadedAt = new Date();
  #judgedAt = new Date();
  /** True when the configuration in force came from the file. Only then is a missing file a problem. */
  #isFromFile = false;
  #exists = false;
  /** The managed file that has a part in the configuration in force. */
  #managed: ManagedFile | null = null;
  #problems: Problem[] = [];
  #overruled: Problem[] = [];
  /** True when the same file may become valid later, because the fault is another file's or a port that is taken. */
  #isTransient = false;
  #poll: NodeJS.Timeout | undefined;
  /** The versions of the files that were last read. */
  #version = "";
  #events = 0;
  /** True while a read is queued that will see every change up to now. */
  #isReadQueued = false;
  /** Resolves after the last queued read: one runs at a time. */
  #reads: Promise<void> = Promise.resolve();
  #isClosed = false;
  /** Applies a new configuration. Until a listener is set, nothing needs to be done. */
  #apply: (config: Config) => Promise<Problem[]> = () => Promise.resolve([]);
  readonly #problemListeners: ((problems: Problem[]) => void)[] = [];
  #tellOverruled: (overruled: Problem[]) => void = () => {};

  constructor(path: string, managedPath: string) {
    this.#path = path;
    this.#managedPath = managedPath;
  }

  current(): Config {
    return this.#config;
  }

  status(): ConfigStatus {
    return {
      path: this.#path,
      exists: this.#exists,
      managed: this.#managed && {
        path: this.#managed.path,
        locked: this.#managed.locked.map((path) => formatConfigPath(path)),
      },
      loadedAt: this.#loadedAt.toISOString(),
      judgedAt: this.#judgedAt.toISOString(),
      problems: this.#problems,
      overruled: this.#overruled,
    };
  }

  onChange(listener: (config: Config) => Promise<Problem[]>): void {
    this.#apply = listener;
  }

  onProblems(listener: (problems: Problem[]) => void): void {
    this.#problemListeners.push(listener);
  }

  onOverruled(listener: (overruled: Problem[]) => void): void {
    this.#tellOverruled = listener;
  }

  /** Reads the file for the first time and resolves to its problems. */
  async open(): Promise<Problem[]> {
    this.#poll = setInterval(() => void this.#lookAgain(), POLL_MS).unref();
    await this.reload();
    return this.#problems;
  }

  /** Also restarts the watch, which may have been lost. */
  reload(): Promise<void> {
    this.#reads = this.#reads.then(async () => {
      await this.#watch();
      await this.#read();
    });
    return this.#reads;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#poll);
    await this.#watcher?.close();
  }

  get #files(): readonly string[] {
    return [this.#path, this.#managedPath];
  }

  /** Starts the watch. It must precede the read, so that no change is missed in between. */
  async #watch(): Promise<void> {
    await this.#watcher?.close();
    if (this.#isClosed) return;
    // Only a daemon watches: the commands that read a configuration need not load this.
    const { watch } = await import("chokidar");
    // Polling finds a managed file in a directory that does not exist yet: the one above it is not watched, as too much happens there.
    const managed = dirname(this.#managedPath);
    const directories = [nearestDirectory(this.#path), ...(existsSync(managed) ? [managed] : [])];
    const watcher = watch(directories, {
      ignored: (path) => this.#files.every((file) => !isFileOrAncestor(file, path)),
    });
    this.#watcher = watcher;
    watcher.on("all", (event) => {
      // The watch went with its directory. Continue with the nearest one that still exists.
      if (event === "unlinkDir") watcher.add(nearestDirectory(this.#path));
      this.#onEvent();
    });
    // chokidar's own events omit a write within 5 ms of a chmod. An unnecessary read does no harm.
    watcher.on("raw", (_event, name, details) => {
      if (!this.#files.some((file) => isAboutNeighbour(file, name, details))) this.#onEvent();
    });
    await new Promise<void>((done) => {
      watcher.once("ready", done);
      // If nothing can be watched, polling the path finds changes.
      watcher.on("error", () => done());
    });
  }

  /** Reads the file again, and restarts the watch, after a change that the watch has missed. */
  async #lookAgain(): Promise<void> {
    if (this.#isReadQueued) return;
    const reads = this.#reads;
    const version = await versionOf(this.#files);
    // A read that began in the meantime has set its own version.
    if ((version !== this.#version || this.#isTransient) && reads === this.#reads) await this.reload();
  }

  #onEvent(): void {
    this.#events += 1;
    if (this.#isReadQueued) return;
    this.#isReadQueued = true;
    this.#reads = this.#reads.then(async () => {
      await this.#waitUntilQuiet(SETTLE_MS);
      this.#isReadQueued = false;
      await this.#read();
    });
  }

  /** Resolves when the file has been left alone for `ms` milliseconds, and after {@link MAX_WAIT_MS} in any case. */
  async #waitUntilQuiet(ms: number): Promise<void> {
    const until = performance.now() + MAX_WAIT_MS;
    let seen: number;
    do {
      seen = this.#events;
      await delay(ms);
    } while (seen !== this.#events && !this.#isClosed && performance.now() < until);
  }

  async #read(): Promise<void> {
    this.#version = await versionOf(this.#files);
    let reading = await readConfigFile(this.#path, this.#managedPath);
    if (!reading.ok || this.#missing(reading).length > 0) {
      await this.#waitUntilQuiet(RECHECK_MS);
      reading = await readConfigFile(this.#path, this.#managedPath);
    }
    if (!this.#isClosed) await this.#handle(reading);
  }

  /** Returns a problem for each file that is missing, although the configuration in force came from it. An editor may be saving it. */
  #missing({ exists, managed }: ValidConfig): Problem[] {
    return [
      ...(!exists && this.#isFromFile ? [GONE] : []),
      ...(managed === null && this.#managed !== null ? [{ file: this.#managedPath, ...GONE }] : []),
    ];
  }

  async #handle(reading: ConfigReading): Promise<void> {
    this.#judgedAt = new Date();
    this.#exists = !reading.ok || reading.exists;
    this.#isTransient = !reading.ok && reading.isTransient;
    if (!reading.ok) return this.#reportProblems(reading.problems);
    const missing = this.#missing(reading);
    if (missing.length > 0) this.#reportProblems(missing);
    else await this.#accept(reading);
  }

  /** Calls the listeners unless they have been called with the same problems. */
  #reportProblems(problems: Problem[]): void {
    if (isDeepStrictEqual(problems, this.#problems)) return;
    this.#problems = problems;
    for (const listener of this.#problemListeners) listener(problems);
  }

  async #accept({ config, managed, overruled }: ValidConfig): Promise<void> {
    const isNew = !isSame(config, this.#config);
    const problems = isNew ? await this.#apply(config) : [];
    if (problems.length > 0) {
      this.#isTransient = true;
      this.#reportProblems(problems);
      return;
    }
    if (isNew) {
      this.#config = config;
      this.#loadedAt = new Date();
      this.#problems = [];
    }
    this.#isFromFile = this.#exists;
    this.#managed = managed;
    // If the files match the configuration in force again, earlier problems are over.
    if (!isNew) this.#reportProblems([]);
    const isOverruledAsBefore = isDeepStrictEqual(overruled, this.#overruled);
    this.#overruled = overruled;
    if (!isOverruledAsBefore) this.#tellOverruled(overruled);
  }
}

/** Returns what changes with each file, its permissions, or whether it can be reached. */
async function versionOf(files: readonly string[]): Promise<string> {
  const versions = await Promise.all(
    files.map(async (file) => {
      try {
        const { dev, ino, size, mtimeMs, ctimeMs } = await stat(file);
        return [dev, ino, size, mtimeMs, ctimeMs].join(" ");
      } catch (error) {
        return codeOf(error) ?? "unknown";
      }
    }),
  );
  return versions.join("; ");
}

/** Compares the secrets in `outbound` separately: isDeepStrictEqual does not see their private fields. */
function isSame(one: Config, other: Config): boolean {
  return isDeepStrictEqual(one, other) && isSameOutbound(one.outbound, other.outbound);
}

/** Returns the file's directory, or its closest ancestor that exists. */
function nearestDirectory(path: string): string {
  let directory = dirname(path);
  while (!existsSync(directory)) directory = dirname(directory);
  return directory;
}

/**
 * True for a raw event about another file in the file's directory. Without a file name, or from a watch of the file itself or of
 * an ancestor, an event may be about the file.
 */
function isAboutNeighbour(file: string, name: unknown, details: unknown): boolean {
  const watched: unknown = isObject(details) ? details["watchedPath"] : null;
  return watched === dirname(file) && typeof name === "string" && name !== basename(file);
}

/** True when `path` is the file or one of its ancestor directories. Nothing else in them is watched. */
function isFileOrAncestor(file: string, path: string): boolean {
  return file === path || file.startsWith(path.endsWith(sep) ? path : path + sep);
}
