import {
  checkConfigText,
  configFailure,
  MANAGED_PATH,
  setConfigValue,
  type ManagedFile,
} from "../../adapters/config-file.ts";
import type { Config } from "../../core/config/config.ts";
import { parseConfigPath, type ConfigPath } from "../../core/config/config-path.ts";
import { isLocked } from "../../core/config/managed.ts";
import { formatConfigPath, sanitizeText, type Problem } from "../../core/config/problem.ts";
import { Failure } from "../../core/failure.ts";
import { parseJson } from "../../core/json.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { readTarget, writeTarget } from "../../connect/edit/target-file.ts";
import { attempt } from "../attempt.ts";
import { WrongUsage } from "../wrong-usage.ts";

/** A change of a configuration file that has been judged, and not yet been written. */
export interface PlannedChange {
  /** The configuration that it results in. */
  config: Config;
  write(): void;
}

/**
 * Plans to set several values of a configuration file and to keep the rest, comments included; `undefined` removes a value.
 * @param template the text to start from when there is no file
 * @throws Failure when the configuration would not be valid, or when the managed file would overrule a change
 */
export async function planChanges(
  file: string,
  changes: readonly (readonly [ConfigPath, unknown])[],
  template: string,
): Promise<PlannedChange> {
  refuseManaged(file);
  const target = readTarget(file);
  const before = target.existing?.text ?? template;
  const after = changes.reduce((text, [path, value]) => setConfigValue(text, path, value), before);
  const reading = await checkConfigText(file, after);
  if (!reading.ok) throw refusedChange(file, changes, reading.problems);
  const overruled = reading.overruled.find(({ path }) => changes.some(([changed]) => overlap(path, changed)));
  if (overruled !== undefined) throw lockedChange(overruled, reading.managed);
  return { config: reading.config, write: () => writeTarget(target, after) };
}

/**
 * Sets one value of a configuration file and keeps the rest, comments included. `text` is JSON, or a string without its quotes.
 * @throws Failure, with nothing written, when the configuration would not be valid
 */
export async function setValue(file: string, name: string, text: string, template: string): Promise<void> {
  const path = parsePath(name);
  let first: Failure | null = null;
  for (const value of readings(text)) {
    const { value: change, failure } = await attempt(Failure, () =>
      planChanges(file, [[path, value]], template),
    );
    if (failure === null) return change.write();
    first ??= failure;
  }
  throw first ?? unknownPath(name);
}

/** Throws a Failure for the managed file, which only root may write, and which users have to be able to read. */
export function refuseManaged(file: string): void {
  if (file !== MANAGED_PATH) return;
  const edit = formatCommand(["sudo", "-e", file]);
  throw new Failure(
    `${file} is the managed file, which tollkeeper never writes`,
    `${edit}; then check it with: tollkeeper config check`,
  );
}

/** A fault of the new value itself is the whole message; others need their place in the file. */
function refusedChange(
  file: string,
  changes: readonly (readonly [ConfigPath, unknown])[],
  problems: readonly Problem[],
): Failure {
  const [only] = problems.length === 1 ? problems : [];
  const isOfValue = changes.some(([path]) => formatConfigPath(path) === only?.path);
  const fault = only !== undefined && isOfValue ? `${only.path}: ${only.message}` : null;
  return new Failure(
    fault === null
      ? `nothing was written: with this value, ${configFailure(file, problems).message}`
      : `nothing was written: ${fault}`,
    only?.hint ?? "to see the values that each setting takes, type: tollkeeper config schema",
  );
}

/** True when one of the two paths leads to the other. `path` is formatted, as that of a problem is. */
function overlap(path: string, changed: ConfigPath): boolean {
  const other = formatConfigPath(changed);
  return isWithin(path, other) || isWithin(other, path);
}

function isWithin(inner: string, outer: string): boolean {
  return inner.startsWith(outer) && !/^[\w$-]/.test(inner.slice(outer.length));
}

function lockedChange({ path, message }: Problem, managed: ManagedFile | null): Failure {
  const locked = managed?.locked ?? [];
  const isLock = locked.some((lock) => overlap(path, lock)) || isLocked(parseConfigPath(path) ?? [], locked);
  return new Failure(
    `nothing was written: ${isLock && managed !== null ? `${managed.path} locks ${path}` : `${path}: ${message}`}`,
    `to see the value in force, type: ${formatCommand(["tollkeeper", "config", "explain", path])}`,
  );
}

/** `8700` is a number, `token` a string; a string that looks like JSON, such as a key called `1`, is tried last. */
function readings(text: string): unknown[] {
  const json = parseJson(text);
  return json === undefined ? [text] : [json, text];
}

/** Parses the name of a setting as a person types it. @throws WrongUsage */
export function parsePath(name: string): ConfigPath {
  const path = parseConfigPath(name);
  if (path === null) throw unknownPath(name);
  return path;
}

/** Returns the error for a name that no setting has. */
export function unknownPath(name: string): WrongUsage {
  return new WrongUsage(
    `the configuration has no ${sanitizeText(name)}`,
    "a path looks like upstreams.default.baseUrl; to see all keys, type: tollkeeper config schema",
  );
}
