import {
  configFailure,
  layersOf,
  locateIn,
  readSources,
  type ConfigSourceFile,
} from "../../adapters/config-file.ts";
import type { ConfigPath } from "../../core/config/config-path.ts";
import {
  concealSecrets,
  explainSetting,
  listSetPaths,
  type Explanation,
  type SettingSource,
} from "../../core/config/explain.ts";
import { mergeConfigs } from "../../core/config/managed.ts";
import { formatConfigPath, sanitizeText } from "../../core/config/problem.ts";
import { valueAt } from "../../core/config/rules.ts";
import { ANY_NAME, findSetting, listSettings } from "../../core/config/settings.ts";
import { isObject } from "../../core/json.ts";
import { findNearest } from "../../core/text/did-you-mean.ts";
import { homeDirectory } from "../../adapters/paths.ts";
import { toPrintable } from "../../core/text/printable.ts";
import { displayPath, labelledLine } from "../terminal/format.ts";
import { wrapWords } from "../terminal/wrap.ts";
import { layOutTable, type Column } from "../terminal/table.ts";
import { WrongUsage } from "../wrong-usage.ts";
import { parsePath, unknownPath } from "./parse-path.ts";

/** A place in one of the two configuration files. */
interface Place {
  file: string;
  /** Counted from 1; null when it is not known. */
  line: number | null;
}

/** What `config explain` says about one setting, as its JSON output has it. */
interface ExplainedSetting {
  key: string;
  value: unknown;
  /** `user`, `managed`, `both` for an object with members of both files, or `default`. */
  source: string;
  /** Where the files set it: the user's own first. */
  places: Place[];
  locked: boolean;
  /** The value in the user's file that is not used, and its place; null when there is none. */
  overruled: (Place & { value: unknown }) | null;
  default: unknown;
  description: string | null;
}

/** The two files of a configuration and what they say together. */
interface ReadLayers {
  /** The managed file's path; null when there is none. */
  managed: string | null;
  /** True when this configuration can be in force. */
  isValid: boolean;
  explain(path: ConfigPath): Explanation | null;
  describe(explanation: Explanation): ExplainedSetting;
  /** Returns the value that the managed file has at a path; undefined when it has none. */
  managedValue(path: ConfigPath): unknown;
  /** Every setting that one of the files sets, in their order. */
  list(): ExplainedSetting[];
}

/** Reads both files, valid or not. @throws Failure when one of them cannot be used at all */
export async function readLayers(file: string): Promise<ReadLayers> {
  const sources = await readSources(file);
  const { own, managed } = sources;
  if (own.isUnusable || managed.isUnusable) throw configFailure(file, [...own.problems, ...managed.problems]);
  const layers = layersOf(sources);
  const user = own.content?.value;
  // Without any file the defaults apply.
  const isEmpty = own.content === null && managed.content === null;
  const explain = (path: ConfigPath) => explainSetting(path, user, layers);
  const describe = (explanation: Explanation) => describeSetting(explanation, own, managed);
  const list = () =>
    listSetPaths(user, layers).flatMap((path) => {
      const found = explain(path);
      return found === null ? [] : [describe(found)];
    });
  return {
    managed: managed.content === null ? null : managed.path,
    isValid: isEmpty || (layers.config !== null && own.problems.length + managed.problems.length === 0),
    explain,
    describe,
    managedValue: (path) => valueAt(layers.settings, path),
    list,
  };
}

/** Lists the paths of all settings, with the names of the upstreams, tools and so on that the two files have. */
export async function listSettingPaths(file: string): Promise<string[]> {
  const sources = await readSources(file);
  const { own, settings } = layersOf(sources);
  return listSettings(mergeConfigs(own, { settings, locked: [] }).value);
}

/** Explains the setting that a person names. @throws WrongUsage when the configuration has none of that name */
export function explainNamed(layers: ReadLayers, name: string): Explanation {
  const path = parsePath(name);
  const found = layers.explain(path);
  if (found === null) throw unknownPath(name);
  refuseMistypedName(layers, path);
  return found;
}

/** A setting under a name that the configuration does not contain has no value. @throws WrongUsage if it is close to one that is in use */
function refuseMistypedName(layers: ReadLayers, [section, name]: ConfigPath): void {
  if (section === undefined || typeof name !== "string") return;
  const named = layers.explain([section])?.value;
  if (!isObject(named) || Object.hasOwn(named, name) || findSetting([section, ANY_NAME]) === null) return;
  const nearest = findNearest(name, Object.keys(named));
  if (nearest === null) return;
  const [wrong, meant] = [name, nearest].map((one) => sanitizeText(formatConfigPath([section, one])));
  throw new WrongUsage(
    `the configuration has no ${wrong}; did you mean "${meant}"?`,
    "to see everything that is set, type: tollkeeper config explain",
  );
}

/** Formats one setting as the lines of a report. */
export function formatSetting(setting: ExplainedSetting): string[] {
  const { key, value, places, locked, overruled, description } = setting;
  const from = places.length === 0 ? "the default" : places.map(formatPlace).join(" and ");
  return [
    key,
    labelledLine("  value", JSON.stringify(value)),
    labelledLine("  from", locked ? `${from}; locked` : from),
    ...(overruled === null
      ? []
      : [labelledLine("  not used", `${JSON.stringify(overruled.value)}, from ${formatPlace(overruled)}`)]),
    labelledLine("  default", JSON.stringify(setting.default)),
    ...(description === null ? [] : [labelledLine("  meaning", description)]),
  ];
}

/** Formats one setting of a list as one line. */
export function formatSettingLine({ key, value, places, locked, overruled }: ExplainedSetting): string {
  const parts = [
    ...(places.length === 0 ? ["the default"] : places.map(formatPlace)),
    ...(locked ? ["locked"] : []),
    ...(overruled === null ? [] : [`not used: ${formatPlace(overruled)}`]),
  ];
  return `${key} = ${JSON.stringify(value)} (${parts.join(", ")})`;
}

const SETTING: Column = { head: "setting", align: "left", long: "cut" };
const VALUE: Column = { head: "value", align: "left", long: "cut" };

/** A narrower terminal has values below their settings, whole. */
const NARROW = 80;

/** Renders the settings of a list for a terminal. A file that all of them are in is named once, and then only lines. */
export function renderSettings(
  settings: readonly ExplainedSetting[],
  width: number,
  isColoured: boolean,
): string {
  const files = new Set(settings.flatMap(({ places }) => places.map(({ file }) => file)));
  const [only] = files;
  const isOne = files.size === 1 && only !== undefined;
  const from: Column = { head: isOne ? "line" : "from", align: "left", long: "path", order: 1 };
  const rows = settings.map(({ key, value, places, locked, overruled }) => ({
    key: toPrintable(key),
    value: toPrintable(JSON.stringify(value)),
    from: [
      ...(locked ? ["locked"] : []),
      ...(overruled === null ? [] : ["not used"]),
      ...(places.length === 0
        ? ["the default"]
        : places.map((place) => (isOne ? String(place.line ?? "") : formatShortPlace(place)))),
    ].join(", "),
  }));
  const view = { width, isColoured };
  const { text } =
    width < NARROW
      ? layOutTable(
          [SETTING, from],
          rows.map((row) => [row.key, row.from]),
          view,
          rows.map((row) => [row.value]),
        )
      : layOutTable(
          [SETTING, VALUE, from],
          rows.map((row) => [row.key, row.value, row.from]),
          view,
        );
  if (!isOne) return text;
  const title = wrapWords(`Set in ${toPrintable(displayPath(only, homeDirectory()))}:`, width);
  return `${title}\n\n${text}`;
}

function formatShortPlace(place: Place): string {
  return toPrintable(displayPath(formatPlace(place), homeDirectory()));
}

const SOURCES: Record<SettingSource, string> = {
  own: "user",
  managed: "managed",
  both: "both",
  default: "default",
};

function describeSetting(
  { path, value, source, isLocked, overruled, default: fallback, description }: Explanation,
  own: ConfigSourceFile,
  managed: ConfigSourceFile,
): ExplainedSetting {
  const placeIn = (file: ConfigSourceFile): Place => {
    return { file: file.path, line: locateIn(file, { path, message: "" })?.line ?? null };
  };
  return {
    key: formatConfigPath(path),
    value: concealSecrets(value),
    source: SOURCES[source],
    places: [
      ...(source === "own" || source === "both" ? [placeIn(own)] : []),
      ...(source === "managed" || source === "both" ? [placeIn(managed)] : []),
    ],
    locked: isLocked,
    overruled: overruled === undefined ? null : { ...placeIn(own), value: concealSecrets(overruled) },
    default: fallback,
    description,
  };
}

function formatPlace({ file, line }: Place): string {
  return line === null ? file : `${file}:${line}`;
}
