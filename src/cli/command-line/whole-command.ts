import { NAME } from "../../core/config/names.ts";
import { formatCommand } from "../../core/text/shell-words.ts";

/** Returns the command that a person meant who left out or divided a part of it, as advice; null when none is recognised. */
export function findWholeCommand(
  path: string,
  words: readonly string[],
  unknown: string | null,
): string | null {
  const rest = words.slice(path.split(" ").length);
  if (path === "run") return separateCommand(rest);
  if (path === "budget set") return nameLimit(rest);
  if (path === "config set") return divideAssignment(rest);
  if (unknown === null) return oneAtATime(path, rest);
  return addSubcommand(path, rest) ?? joinPeriod(path, words, unknown) ?? oneAtATime(path, rest);
}

/** `alias gpt-4o gpt-5` sets an alias: by command, the words with which one that has subcommands is meant. */
const LEFT_OUT: Readonly<Record<string, (words: readonly string[]) => readonly string[] | null>> = {
  alias: ([model = "", other = "MODEL"]) => ["set", model, other],
  brake: ([tool = "", limits = "gentle", ...rest]) => ["set", tool, limits, ...rest],
  budget: ([owner = "", amount, ...rest]) =>
    amount?.startsWith("-") === true
      ? ["set", owner, amount, ...rest]
      : ["set", owner, "--usd", /^\$?(\d+(?:\.\d+)?)$/.exec(amount ?? "")?.[1] ?? "20", "--per", "day"],
  group: ([name = "", other, ...rest]) =>
    other === undefined || other.startsWith("-")
      ? ["set", name, ...(other === undefined ? ["--models", "PATTERN"] : [other]), ...rest]
      : ["use", name, other, ...rest],
  token: ([tool = ""]) => ["add", tool],
  key: ([name = ""]) => ["set", name],
  config: ([path = "", ...value]) => (path.includes(".") ? [value[0] ? "set" : "get", path, ...value] : null),
};

/** `budget set codex 20 dollars per day`: people say a limit as they would to a person. */
const SPOKEN_LIMIT =
  /^\$?(?<amount>\d+(?:[.,]\d+)?[km]?)\s*(?<unit>usd|dollars?|bucks|\$|tokens?)?(?:\s+(?:(?:per|a|an|every|each)\s+)?(?<window>hour|day|week|month)|\s+(?<daily>hourly|daily|weekly|monthly))?$/i;

const WINDOWS: Readonly<Record<string, string>> = {
  hourly: "hour",
  daily: "day",
  weekly: "week",
  monthly: "month",
};

function nameLimit([owner = "", ...spoken]: readonly string[]): string | null {
  const { amount, unit = "", window, daily } = SPOKEN_LIMIT.exec(spoken.join(" "))?.groups ?? {};
  if (amount === undefined || !SUBJECT.test(owner)) return null;
  const option = /^token/i.test(unit) ? "--tokens" : "--usd";
  const per = (window ?? WINDOWS[(daily ?? "").toLowerCase()] ?? "day").toLowerCase();
  return `type: ${formatCommand(["tollkeeper", "budget", "set", owner, option, amount, "--per", per])}`;
}

/** A name of what a command is about, and no word for what to do. */
const SUBJECT = /^[\w*][\w.:/*-]*$/;

function addSubcommand(path: string, rest: readonly string[]): string | null {
  const complete = Object.hasOwn(LEFT_OUT, path) ? LEFT_OUT[path] : undefined;
  if (complete === undefined || !SUBJECT.test(rest[0] ?? "")) return null;
  const words = complete(rest);
  return words === null ? null : `type: ${formatCommand(["tollkeeper", path, ...words])}`;
}

const UNITS: Readonly<Record<string, readonly [unit: string, factor: number]>> = {
  hour: ["h", 1],
  day: ["d", 1],
  week: ["w", 1],
  month: ["d", 30],
};

/** `--since 7 days` and `--since last week` are two words for a shell, of which the option takes the first. */
function joinPeriod(path: string, words: readonly string[], unknown: string): string | null {
  const at = words.indexOf(unknown);
  const [before = "", last = ""] = words.slice(Math.max(at - 2, 0), at);
  const [, glued, value = last] = /^(--(?:since|until|before))=(.+)$/.exec(last) ?? [];
  const option = glued ?? before;
  if (at < 1 || !/^--(?:since|until|before)$/.test(option)) return null;
  const [unit, factor] = UNITS[unknown.replace(/s$/, "")] ?? [];
  const isCount = unit !== undefined && /^\d{1,4}$/.test(value);
  const joined = isCount ? `${Number(value) * (factor ?? 1)}${unit}` : `"${value} ${unknown}"`;
  const why = isCount ? "for such a period" : "for words with a space, which need quotes";
  // A shell takes nothing in these quotes for itself.
  return /^[\w ":.+-]+$/.test(joined) ? `${why}, type: tollkeeper ${path} ${option} ${joined}` : null;
}

/** `run claude -p hi`: without the `--`, the options of the command are taken for ours. */
function separateCommand(rest: readonly string[]): string | null {
  if (rest.includes("--") || !SUBJECT.test(rest[0] ?? "")) return null;
  return `write -- before the command: ${formatCommand(["tollkeeper", "run", "--", ...rest])}`;
}

/** Commands that take one tool, and people give several to. */
const ONE_TOOL: ReadonlySet<string> = new Set(["connect", "disconnect", "pause", "resume"]);

/** Returns the command for each of several tools, which are divided by spaces or by commas; null for one tool, or none. */
export function oneAtATime(path: string, rest: readonly string[]): string | null {
  if (!ONE_TOOL.has(path)) return null;
  const names = rest
    .filter((word) => !word.startsWith("-"))
    .flatMap((word) => word.split(",").filter(Boolean));
  if (names.length < 2 || !names.every((name) => NAME.test(name))) return null;
  return `one at a time: ${names.map((name) => `tollkeeper ${path} ${name}`).join(" && ")}`;
}

/** `listen.port=8700` and `listen.port = 8700` are how files set a value. */
function divideAssignment(rest: readonly string[]): string | null {
  const [, path, value] = /^([\w.[\]*-]+)\s*=\s*(.+)$/s.exec(rest.join(" ").trim()) ?? [];
  if (path === undefined || value === undefined) return null;
  return `type: ${formatCommand(["tollkeeper", "config", "set", path, value])}`;
}
