import { existsSync, statSync } from "node:fs";
import { dirname, extname, join, resolve } from "node:path";
import { MANAGED_PATH } from "../adapters/config-file.ts";
import { configPath } from "../adapters/paths.ts";
import { Failure, hasCode } from "../core/failure.ts";
import { toOneLine } from "../core/text/printable.ts";
import { formatCommand } from "../core/text/shell-words.ts";

/**
 * Throws a Failure when the configuration file does not exist, unless it is the default one: without that, the defaults apply and
 * the sandbox responds. A mistyped name must not have that effect.
 */
export function refuseMissingConfig(file: string): void {
  const failure = findMissingConfig(file);
  if (failure !== null) throw failure;
}

/** As {@link refuseMissingConfig}, but returns the Failure; null when the file exists. */
export function findMissingConfig(file: string): Failure | null {
  const path = resolve(file);
  if (path === configPath() || isThere(path)) return null;
  // tollkeeper never writes the managed file, which is root's.
  const editor = path === MANAGED_PATH ? ["sudo", "-e"] : ["tollkeeper", "config", "edit", "--config"];
  const create = formatCommand([...editor, path]);
  return new Failure(
    `there is no configuration file ${toOneLine(path)}`,
    `check the name, or create the file with: ${create}`,
  );
}

/** What people call the configuration file when they write it by hand. */
const OTHER_NAMES = ["json", "json5", "yaml", "yml", "toml"]
  .map((ending) => `config.${ending}`)
  .concat("tollkeeper.json", "tollkeeper.jsonc");

/** Whether a file is JSON, so that it only has to be renamed. */
const JSON_ENDING = /^\.json[c5]?$/;

/**
 * Returns what is said of a file that lies where the default configuration file should be, under a name that is not read: without it
 * the sandbox would respond, and a person who wrote a file would not know why. Null if the file exists, or none is like it.
 */
export function findMisnamedConfig(file: string): Failure | null {
  const path = resolve(file);
  if (isThere(path)) return null;
  const other = OTHER_NAMES.map((name) => join(dirname(path), name)).find((name) => existsSync(name));
  if (other === undefined) return null;
  const fix = JSON_ENDING.test(extname(other)) ? ["mv", other, path] : ["tollkeeper", "config", "edit"];
  return new Failure(
    `${toOneLine(other)} is not read: the configuration is in ${toOneLine(path)}, as JSON with comments`,
    formatCommand(fix),
  );
}

/** A file in an inaccessible directory may exist. Reading it reports what is wrong. */
function isThere(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    return !hasCode(error, "ENOENT") && !hasCode(error, "ENOTDIR");
  }
}
