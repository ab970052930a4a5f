import { dirname } from "node:path";
import { PLACEHOLDER_PREFIX } from "../../core/identity/tool-identity.ts";
import { isObject } from "../../core/json.ts";
import { looksLikeLocalToken } from "../../core/secrets/local-token.ts";
import type { Conflict, SettingsLayer, SettingsSource } from "../conflict.ts";
import type { Setting } from "../setting.ts";
import type { LocalEndpoint, ToolHost } from "../tool.ts";

/** Returns a source in JSON. */
export function jsonSource(
  kind: Exclude<SettingsSource["kind"], "environment">,
  path: string,
): SettingsSource {
  return { kind, path, format: "jsonc" };
}

/** A setting as the tool reads it. */
export interface FoundSetting {
  source: SettingsSource;
  path: readonly (string | number)[];
  value: unknown;
}

/** Returns a setting of the last layer that has it, which overrides the others. */
export function findSetting(
  layers: readonly SettingsLayer[],
  ...path: readonly (string | number)[]
): FoundSetting | null {
  for (const { source, top } of layers.toReversed()) {
    const value = path.reduce<unknown>(memberOf, top);
    if (value !== undefined && value !== null) return { source, path, value };
  }
  return null;
}

function memberOf(value: unknown, key: string | number): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

/** As {@link findSetting}, for a setting that is a non-empty string; null for any other. */
export function findText(
  layers: readonly SettingsLayer[],
  ...path: readonly (string | number)[]
): (FoundSetting & { value: string }) | null {
  const found = findSetting(layers, ...path);
  return typeof found?.value === "string" && found.value !== "" ? { ...found, value: found.value } : null;
}

/** Returns the names of an object's members in all layers, each once, those of the first layer first. */
export function memberNames(layers: readonly SettingsLayer[], ...path: readonly string[]): string[] {
  const objects = layers.map(({ top }) => path.reduce<unknown>(memberOf, top)).filter(isObject);
  return [...new Set(objects.flatMap((object) => Object.keys(object)))];
}

/** Returns the strings of a list; none when it is not a list. */
export function stringsOf(found: FoundSetting | null): string[] {
  return Array.isArray(found?.value) ? found.value.filter((item) => typeof item === "string") : [];
}

/** Returns a conflict that sends requests elsewhere. */
export function elsewhere(
  { source, path }: Pick<FoundSetting, "source" | "path">,
  reason: string,
  more: Partial<Pick<Conflict, "advice" | "remedies" | "needsModel">> = {},
): Conflict {
  return { source, path, effect: "elsewhere", reason, remedies: [], needsModel: false, ...more };
}

/** As {@link elsewhere}, for a conflict that a model of ours resolves; `remedies` are the settings that choose it. */
export function otherModel(
  found: Pick<FoundSetting, "source" | "path">,
  reason: string,
  { model }: LocalEndpoint,
  remedies: (model: string) => readonly Setting[],
): Conflict {
  if (model === null) return elsewhere(found, reason, { needsModel: true });
  return elsewhere(found, reason, { remedies: remedies(model) });
}

/** Returns a conflict for a base URL that overrides ours; none when there is none, or when it points at tollkeeper. */
export function findOtherBaseUrl(found: FoundSetting | null, endpoint: LocalEndpoint): Conflict[] {
  if (found === null || leadsHere(found.value, endpoint)) return [];
  return [elsewhere(found, "it is another base URL")];
}

/** Returns a conflict for a credential that is sent along with ours; none for a placeholder or a local token. With a plan, for any. */
export function findOtherCredential(
  found: (FoundSetting & { value: string }) | null,
  { credential, account }: LocalEndpoint,
  reason: string,
  remedies: readonly Setting[] = [],
): Conflict[] {
  if (found === null) return [];
  const isOurs = found.value === credential || isOwnCredential(found.value);
  if (isOurs && account === "key") return [];
  const { source, path } = found;
  const effect = account === "key" ? "credential" : "login";
  return [{ source, path, effect, reason, remedies, needsModel: false }];
}

/** True for a placeholder and a local token: with either, tollkeeper adds a key. */
export function isOwnCredential(value: string): boolean {
  return value.startsWith(PLACEHOLDER_PREFIX) || looksLikeLocalToken(value);
}

const LOOPBACK_URL = /^https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::(?<port>\d+))?(?<path>\/\S*)?$/i;

/** True for a base URL that points at tollkeeper: by a tool's mark on any port, or by its port. */
export function leadsHere(url: unknown, { baseUrl }: LocalEndpoint): boolean {
  const { port, path = "" } = LOOPBACK_URL.exec(typeof url === "string" ? url : "")?.groups ?? {};
  return /^\/t\/[\w.-]+/.test(path) || (port !== undefined && port === new URL(baseUrl).port);
}

/** Returns the directory of the repository that holds the working directory; null outside of one. */
export function repositoryOf({ directory, exists }: ToolHost): string | null {
  return directoriesAbove(directory).find((one) => exists(`${one}/.git`)) ?? null;
}

/** Returns the directories from `top` to the working directory, the outermost first. */
export function directoriesFrom(top: string, { directory }: ToolHost): string[] {
  const above = directoriesAbove(directory);
  return above.slice(0, above.indexOf(top) + 1).toReversed();
}

/** Returns a directory and all above it, the innermost first. */
function directoriesAbove(directory: string): string[] {
  const parent = dirname(directory);
  return parent === directory ? [directory] : [directory, ...directoriesAbove(parent)];
}
