import { parseJson } from "../json.ts";

/** The keys and indexes that lead to a value of the configuration. */
export type ConfigPath = (string | number)[];

/** One step: `.name`, `.*`, `["any name"]` or `[0]`. */
const STEP = /\.?([\w$-]+|\*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;

/** Parses a path as messages write it, such as `upstreams["my.gateway"].routes[0].path`; null for any other text. */
export function parseConfigPath(text: string): ConfigPath | null {
  const path: ConfigPath = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < text.length) {
    const [, name, index, quoted] = STEP.exec(text) ?? [];
    const unquoted = quoted === undefined ? name : parseJson(quoted);
    if (typeof unquoted === "string") path.push(unquoted);
    else if (index !== undefined) path.push(Number(index));
    else return null;
  }
  return path.length === 0 ? null : path;
}
