import { repeatable } from "./problem.ts";
import type { Fault } from "./problem.ts";
import { judgeName, judgeToolName } from "./string-rules.ts";
import { nearest } from "../text/did-you-mean.ts";
import { SANDBOX_UPSTREAM } from "../ledger/record.ts";
import { valueAt } from "../text/value-at.ts";

/** Keys that would reach an object's prototype in careless hands (facts/threats.md B7). */
const FORBIDDEN = new Set(["__proto__", "constructor", "prototype"]);

/** The routes that `routesOf` gives every upstream; a test holds the two together. */
const BUILT_IN = ["GET /models", "POST /responses", "POST /messages", "POST /messages/count_tokens"];

/** Tells a key that may stand nowhere in the file. */
export function isForbiddenKey(key: string): boolean {
  return FORBIDDEN.has(key);
}

/**
 * Finds what is wrong between the parts of a configuration file. Judges the file as it is written, whatever its
 * shape, so that these problems come in one list with those of the schema.
 */
export function findRuleFaults(file: unknown): Fault[] {
  const upstreams = entriesOf(valueAt(file, ["upstreams"]));
  const tools = entriesOf(valueAt(file, ["tools"]));
  return [
    ...findForbiddenKeys(file, []),
    ...findBadNames("upstreams", upstreams, judgeName),
    ...findBadNames("tools", tools, judgeToolName),
    ...findReservedName(upstreams),
    ...findMissingDefault(upstreams),
    ...tools.flatMap(([name, tool]) => findToolFaults(name, tool, upstreams)),
    ...upstreams.flatMap(([name, upstream]) => findRouteFaults(name, valueAt(upstream, ["routes"]))),
  ];
}

type Entries = [name: string, value: unknown][];

function findForbiddenKeys(value: unknown, path: Fault["path"]): Fault[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => findForbiddenKeys(item, [...path, index]));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, below]) => {
    const here = [...path, key];
    return isForbiddenKey(key)
      ? [{ path: here, message: "this key is not allowed anywhere" }]
      : findForbiddenKeys(below, here);
  });
}

function findBadNames(section: string, entries: Entries, judge: (name: string) => string | null): Fault[] {
  return entries.flatMap(([name]) => {
    const message = judge(name);
    return message === null ? [] : [{ path: [section, name], message }];
  });
}

function findReservedName(upstreams: Entries): Fault[] {
  if (!upstreams.some(([name]) => name === SANDBOX_UPSTREAM)) return [];
  const message = "this name is the built-in sandbox's, in the ledger too; choose another";
  return [{ path: ["upstreams", SANDBOX_UPSTREAM], message }];
}

function findMissingDefault(upstreams: Entries): Fault[] {
  if (upstreams.length === 0 || upstreams.some(([name]) => name === "default")) return [];
  const message = 'no upstream is called "default", where tools go that name none; call one of them so';
  return [{ path: ["upstreams"], message }];
}

function findToolFaults(name: string, tool: unknown, upstreams: Entries): Fault[] {
  const wanted = valueAt(tool, ["upstream"]) ?? "default";
  if (typeof wanted !== "string") return [];
  const upstream = upstreams.find(([candidate]) => candidate === wanted)?.[1];
  if (upstream !== undefined) return findSecondKey(name, valueAt(tool, ["key"]), upstream);
  // The default upstream may be the sandbox, or its absence is a problem told once, above.
  if (wanted === "default") return [];
  const near = nearest(
    wanted,
    upstreams.map(([candidate]) => candidate),
  );
  const fix = near === null ? "name one of `upstreams`" : `did you mean "${repeatable(near)}"?`;
  return [
    { path: ["tools", name, "upstream"], message: `no upstream is called "${repeatable(wanted)}"; ${fix}` },
  ];
}

/** A file, a command and a systemd credential each give one key; only the keychain can tell keys apart by name. */
function findSecondKey(tool: string, key: unknown, upstream: unknown): Fault[] {
  const own = valueAt(upstream, ["key"]) ?? "default";
  if (typeof key !== "string" || key === own || valueAt(upstream, ["keySource"]) === undefined) return [];
  const message =
    "this upstream's keySource gives one key only; leave the key out here, or add an upstream with its own keySource";
  return [{ path: ["tools", tool, "key"], message }];
}

function findRouteFaults(upstream: string, routes: unknown): Fault[] {
  if (!Array.isArray(routes)) return [];
  const taken = [...BUILT_IN];
  return routes.flatMap((route: unknown, index) => {
    const request = `${String(valueAt(route, ["method"]))} ${String(valueAt(route, ["path"]))}`;
    const other = taken.find((candidate) => overlaps(candidate, request));
    taken.push(request);
    if (other === undefined) return [];
    const message = BUILT_IN.includes(other)
      ? `answers the same requests as the built-in ${other}; remove it`
      : "answers the same requests as a route above; remove one";
    return [{ path: ["upstreams", upstream, "routes", index, "path"], message }];
  });
}

/** Can one request match both? `{id}` stands for any one segment. */
function overlaps(one: string, other: string): boolean {
  const segments = one.split("/");
  const others = other.split("/");
  if (segments.length !== others.length) return false;
  return segments.every((segment, at) => [segment, others[at]].includes("{id}") || segment === others[at]);
}

function entriesOf(value: unknown): Entries {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  return Object.entries(value).filter(([key]) => !isForbiddenKey(key));
}
