import { sanitizeText, type Issue } from "./problem.ts";
import { findSigningIssues } from "./aws-region.ts";
import { checkName, checkToolName, OTHERS, SANDBOX_UPSTREAM } from "./names.ts";
import { findOwnAddresses } from "./own-address.ts";
import { findNearest } from "../text/did-you-mean.ts";
import { isObject } from "../json.ts";

/** Keys through which an assignment could reach an object's prototype (SECURITY.md B7). */
const FORBIDDEN = new Set(["__proto__", "constructor", "prototype"]);

/** Most entries of a list or of an object of named entries. Checking more would block the daemon's requests. */
export const MAX_ENTRIES = 1000;

const MAX_TOOL_ISSUES = 50;

/** How many names a misspelled one is compared with. */
const MAX_GUESSES = 20;

/** The built-in routes that the configuration cannot change: those that tools start models by, and their list. */
const FIXED = [
  "GET /models",
  "POST /responses",
  "POST /messages",
  "POST /messages/count_tokens",
  "POST /chat/completions",
  "POST /completions",
  "POST /embeddings",
];

/** True for a key that is allowed nowhere in the file. */
export function isForbiddenKey(key: string): boolean {
  return FORBIDDEN.has(key);
}

/** Finds issues between the parts of a configuration file. Takes any JSON value, so that all issues are reported at once. */
export function findRuleIssues(file: unknown): Issue[] {
  const upstreams = entriesOf(valueAt(file, ["upstreams"]));
  const tools = entriesOf(valueAt(file, ["tools"]));
  const named = tools.filter(([name]) => name !== OTHERS);
  const groups = entriesOf(valueAt(file, ["groups"]));
  return [
    ...findForbiddenKeys(file, []),
    ...findBadNames("upstreams", upstreams, checkName),
    ...findBadNames("tools", named, checkToolName),
    ...findBadNames("groups", groups, checkName),
    ...findReservedName(upstreams),
    ...findOwnAddresses(
      upstreams.map(([name, upstream]) => [name, valueAt(upstream, ["baseUrl"])]),
      { port: valueAt(file, ["listen", "port"]), allowedHosts: valueAt(file, ["listen", "allowedHosts"]) },
    ),
    ...findAllToolIssues(named, upstreams),
    ...findGroupIssues(groups, tools, upstreams),
    ...findFallbackIssues(upstreams),
    ...upstreams.flatMap(([name, upstream]) => findOwnKeyIssues(name, upstream, upstreams)),
    ...findAliasIssues(valueAt(file, ["aliases"]), named),
    ...findUnknownProjects(file),
    ...upstreams.flatMap(([name, upstream]) => findUnusedSource(name, upstream)),
    ...upstreams.flatMap(([name, upstream]) => findSigningIssues(name, upstream)),
    ...upstreams.flatMap(([name, upstream]) => findRouteIssues(name, valueAt(upstream, ["routes"]))),
  ];
}

type Entries = [name: string, value: unknown][];

function findForbiddenKeys(value: unknown, path: Issue["path"]): Issue[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => findForbiddenKeys(item, [...path, index]));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, below]) => {
    const here = [...path, key];
    return isForbiddenKey(key)
      ? [{ path: here, message: "this key is not allowed anywhere" }]
      : findForbiddenKeys(below, here);
  });
}

function findBadNames(section: string, entries: Entries, check: (name: string) => string | null): Issue[] {
  return entries.flatMap(([name]) => {
    const message = check(name);
    return message === null ? [] : [{ path: [section, name], message }];
  });
}

function findReservedName(upstreams: Entries): Issue[] {
  if (!upstreams.some(([name]) => name === SANDBOX_UPSTREAM)) return [];
  const message = "this name is reserved for the built-in sandbox; choose another";
  return [{ path: ["upstreams", SANDBOX_UPSTREAM], message }];
}

/** Stops after as many as anyone reads, because each costs a guess at what was meant. */
function findAllToolIssues(tools: Entries, upstreams: Entries): Issue[] {
  const issues: Issue[] = [];
  for (const [name, tool] of tools) {
    if (issues.length >= MAX_TOOL_ISSUES) break;
    issues.push(...findToolIssues(name, tool, upstreams));
  }
  return issues;
}

function findToolIssues(name: string, tool: unknown, upstreams: Entries): Issue[] {
  const wanted = valueAt(tool, ["upstreams"]);
  const allowed = Array.isArray(wanted) ? wanted.slice(0, MAX_ENTRIES) : null;
  const known = new Set<unknown>(upstreams.map(([candidate]) => candidate));
  const missing = (allowed ?? []).flatMap((candidate: unknown, index) =>
    typeof candidate !== "string" || known.has(candidate)
      ? []
      : [
          {
            path: ["tools", name, "upstreams", index],
            message: describeMissing("upstream", candidate, upstreams),
          },
        ],
  );
  if (missing.length > 0) return missing;
  if (allowed?.length === 0) {
    const message =
      "allows no upstream, so that the tool could request nothing; name one, or remove the list";
    return [{ path: ["tools", name, "upstreams"], message }];
  }
  const usable = upstreams.filter(([candidate]) => allowed === null || allowed.includes(candidate));
  return findUnusedKey(["tools", name, "key"], valueAt(tool, ["key"]), usable);
}

/** Stops after as many as anyone reads, as for the tools. */
function findGroupIssues(groups: Entries, tools: Entries, upstreams: Entries): Issue[] {
  const known = new Set<unknown>(groups.map(([name]) => name));
  const issues: Issue[] = [];
  for (const [tool, value] of tools) {
    const wanted = valueAt(value, ["group"]);
    if (typeof wanted !== "string" || known.has(wanted)) continue;
    if (issues.length >= MAX_TOOL_ISSUES) return issues;
    issues.push({ path: ["tools", tool, "group"], message: describeMissing("group", wanted, groups) });
  }
  for (const [name, group] of groups) {
    if (issues.length >= MAX_TOOL_ISSUES) return issues;
    issues.push(
      ...findEmptyModels(name, valueAt(group, ["models"])),
      ...findUnusedKey(["groups", name, "key"], valueAt(group, ["key"]), upstreams),
    );
  }
  return issues;
}

function findEmptyModels(group: string, models: unknown): Issue[] {
  if (!Array.isArray(models) || models.length > 0) return [];
  const message = "allows no model, so that its tools could request nothing; name one, or remove the list";
  return [{ path: ["groups", group, "models"], message }];
}

function describeMissing(kind: "upstream" | "group", wanted: string, entries: Entries): string {
  const names = entries.slice(0, MAX_GUESSES).map(([candidate]) => candidate);
  const near = findNearest(wanted, names);
  const fix = near === null ? `name one of \`${kind}s\`` : `did you mean "${sanitizeText(near)}"?`;
  return `no ${kind} is called "${sanitizeText(wanted)}"; ${fix}`;
}

/** A file, a command and a systemd credential each give one key; only the keychain has several keys, by name. */
function findUnusedKey(path: string[], key: unknown, upstreams: Entries): Issue[] {
  const canUse = ([, upstream]: Entries[number]) =>
    valueAt(upstream, ["keySource"]) === undefined || (valueAt(upstream, ["key"]) ?? "default") === key;
  if (typeof key !== "string" || upstreams.length === 0 || upstreams.some(canUse)) return [];
  const message =
    "this upstream's keySource has only one key; remove the key here, or add an upstream with its own keySource";
  return [{ path, message }];
}

/** Stops after as many as anyone reads, as for the tools. */
function findFallbackIssues(upstreams: Entries): Issue[] {
  const known = new Set(upstreams.map(([name]) => name));
  const issues: Issue[] = [];
  for (const [name, upstream] of upstreams) {
    const seen = new Set([name]);
    for (const [index, other] of listAt(upstream, "fallback").entries()) {
      if (issues.length >= MAX_TOOL_ISSUES) return issues;
      if (typeof other !== "string") continue;
      const path = ["upstreams", name, "fallback", index];
      if (!known.has(other)) issues.push({ path, message: describeMissing("upstream", other, upstreams) });
      else if (seen.has(other)) issues.push({ path, message: describeRepeated(other === name) });
      seen.add(other);
    }
  }
  return issues;
}

function describeRepeated(isItself: boolean): string {
  return isItself ? "an upstream cannot be its own fallback; name another" : "is named twice; remove one";
}

/** Settings for a key of ours, which mean nothing where each tool sends its own. */
const FOR_OUR_KEY = ["key", "keySource", "auth", "region", "countTokensAuth"];

/** What a tool sends goes to one upstream, as it came. */
function findOwnKeyIssues(name: string, upstream: unknown, upstreams: Entries): Issue[] {
  const fallback = listAt(upstream, "fallback");
  if (!passesOwnKeys(upstream)) {
    const own = new Set<unknown>(upstreams.filter(([, one]) => passesOwnKeys(one)).map(([other]) => other));
    return fallback.flatMap((other, index) =>
      own.has(other) ? [{ path: ["upstreams", name, "fallback", index], message: NO_FALLBACK }] : [],
    );
  }
  const unused = FOR_OUR_KEY.filter((key) => (valueAt(upstream, [key]) ?? null) !== null);
  const message =
    'means nothing with "credential": "client": tools send their own key; remove one of the two';
  return [
    ...unused.map((key) => ({ path: ["upstreams", name, key], message })),
    ...(fallback.length > 0 ? [{ path: ["upstreams", name, "fallback"], message: NO_FALLBACK }] : []),
  ];
}

const NO_FALLBACK =
  'a tool\'s own key goes to one upstream only, so with "credential": "client" there is no fallback; remove it';

function passesOwnKeys(upstream: unknown): boolean {
  return valueAt(upstream, ["credential"]) === "client";
}

/** A chain of aliases would mean that one entry depends on another, and a loop has no end. */
function findAliasIssues(aliases: unknown, tools: Entries): Issue[] {
  const all = entriesOf(aliases);
  const ofAll = chainsIn(all, new Set(all.map(([name]) => name)), ["aliases"]);
  const ofTools = tools.flatMap(([tool, value]) => {
    const own = entriesOf(valueAt(value, ["aliases"]));
    const names = new Set([...all, ...own].map(([name]) => name));
    return chainsIn(own, names, ["tools", tool, "aliases"]);
  });
  return [...ofAll, ...ofTools].slice(0, MAX_TOOL_ISSUES);
}

function chainsIn(aliases: Entries, names: ReadonlySet<string>, path: Issue["path"]): Issue[] {
  return aliases.flatMap(([name, model]) => {
    if (typeof model !== "string" || !names.has(model)) return [];
    const message =
      name === model
        ? "an alias cannot stand for itself; name another model"
        : `"${sanitizeText(model)}" is itself an alias; name the model that it stands for`;
    return [{ path: [...path, name], message }];
  });
}

/** The budget of a project that no request is known to be of would never be spent. */
function findUnknownProjects(file: unknown): Issue[] {
  if (entriesOf(valueAt(file, ["projects"])).length === 0) return [];
  if (valueAt(file, ["ledger", "project"]) === true) return [];
  const message = 'needs "ledger": { "project": true }, without which no request has a project';
  return [{ path: ["projects"], message }];
}

/** A key that is named but never sent is a mistake, in one direction or the other. */
function findUnusedSource(name: string, upstream: unknown): Issue[] {
  if (valueAt(upstream, ["auth"]) !== "none" || valueAt(upstream, ["keySource"]) === undefined) return [];
  const message = 'names a key, but "auth": "none" sends none; remove one of the two';
  return [{ path: ["upstreams", name, "keySource"], message }];
}

function findRouteIssues(upstream: string, routes: unknown): Issue[] {
  // The schema reports a longer list.
  if (!Array.isArray(routes) || routes.length > MAX_ENTRIES) return [];
  const taken = FIXED.map((request) => request.split("/"));
  return routes.flatMap((route: unknown, index) => {
    const request = `${String(valueAt(route, ["method"]))} ${String(valueAt(route, ["path"]))}`.split("/");
    const other = taken.find((candidate) => overlaps(candidate, request))?.join("/");
    taken.push(request);
    if (other === undefined) return [];
    const message = FIXED.includes(other)
      ? `matches the same requests as the built-in ${other}; remove it`
      : "matches the same requests as a route above; remove one";
    return [{ path: ["upstreams", upstream, "routes", index, "path"], message }];
  });
}

/** True when one request can match both. `{id}` stands for any one segment. */
function overlaps(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false;
  return one.every((segment, at) => segment === other[at] || segment === "{id}" || other[at] === "{id}");
}

function entriesOf(value: unknown): Entries {
  if (!isObject(value)) return [];
  // The schema reports an object with more.
  const entries = Object.entries(value).slice(0, MAX_ENTRIES);
  return entries.filter(([key]) => !isForbiddenKey(key));
}

/** The schema reports what is not a list, and a list that is longer. */
function listAt(value: unknown, key: string): unknown[] {
  const list = valueAt(value, [key]);
  return Array.isArray(list) ? list.slice(0, MAX_ENTRIES) : [];
}

/** Returns the value at the end of a path of own keys and indexes; undefined when there is none. */
export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Record<string | number, unknown>)[step];
  }
  return at;
}
