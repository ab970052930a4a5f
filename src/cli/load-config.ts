import { resolve } from "node:path";
import { configFailure, readConfigFile } from "../adapters/config-file.ts";
import { refuseMissingConfig } from "../daemon/named-config.ts";
import { configPath } from "../adapters/paths.ts";
import { defaultConfig, type Config } from "../core/config/config.ts";
import { formatCommand } from "../core/text/shell-words.ts";
import { configOption } from "./config-in-use.ts";

/** Returns the absolute path of the file that `--config` names, or of the default one. */
export function resolveConfigPath(option: string | undefined): string {
  return option === undefined ? configPath() : resolve(option);
}

/** Reads and validates a configuration file. @throws Failure listing every problem in it, or when it is named and missing */
export async function loadConfig(path = configPath()): Promise<Config> {
  refuseMissingConfig(path);
  const reading = await readConfigFile(path);
  if (reading.ok) return reading.config;
  throw configFailure(path, reading.problems);
}

/** Reads a configuration file of which only names are wanted: of one that is missing or not valid, those of the default. */
export async function readIfValid(path = configPath()): Promise<Config> {
  const reading = await readConfigFile(path);
  return reading.ok ? reading.config : defaultConfig;
}

/** Formats a command of ours that is about a configuration file, which it names unless it would be used anyway. */
export function commandAbout(file: string, words: readonly string[]): string {
  return formatCommand(["tollkeeper", ...words, ...configOption(file)]);
}
