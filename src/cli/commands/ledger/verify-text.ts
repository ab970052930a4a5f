import { homedir } from "node:os";
import { join } from "node:path";
import { isCompressed, parseLedgerFileName } from "../../../core/ledger/day.ts";
import type { Tally } from "../../../core/ledger/tally.ts";
import type { Finding, FindingKind } from "../../../core/ledger/verify/day-verifier.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { formatCommand } from "../../../core/text/shell-words.ts";
import { layOutFacts, type Fact } from "../../terminal/facts.ts";
import { displayPath, formatNumber, pluralize } from "../../terminal/format.ts";
import { layOutProse } from "../../terminal/prose.ts";
import { inTone } from "../../terminal/styles.ts";
import { layOutTable, type Column } from "../../terminal/table.ts";
import { MOST_CHARACTERS } from "../../terminal/wrap.ts";
import { formatBytes } from "../live/request-row.ts";

/** Findings of one kind that differ only in their numbers. */
interface FindingGroup {
  count: number;
  /** The first of them. */
  first: Finding[];
}

/** What was found in a whole ledger. */
export interface Verification {
  days: number;
  bytes: number;
  lines: number;
  laterFormat: number;
  /** Files with the sums of days whose records are deleted, or some of them: the only copy, which cannot be checked. */
  summedOnly: string[];
  /** The first of them, in the order of days and lines. */
  findings: Finding[];
  /** The first of them, by what they have in common. */
  groups: Map<string, FindingGroup>;
  counts: Record<FindingKind, number>;
  /** The files of truncated notes, and of lines that an earlier release moved away. */
  setAside: { file: string; bytes: number }[];
}

/** What the records have in total, without the sandbox. */
export type Total = Pick<
  Tally,
  "requests" | "failed" | "input_uncached" | "cache_read" | "cache_write" | "output"
>;

interface View {
  /** Characters in a line; Infinity in a pipe. */
  width: number;
  isColoured: boolean;
}

/** Counts what is wrong. A line that was cut off is no problem. */
export function problemsIn({ counts: { torn: _torn, ...problems } }: Pick<Verification, "counts">): number {
  return Object.values(problems).reduce((sum, count) => sum + count, 0);
}

/**
 * Says what was found: first whether anything is wrong, then what, what that means and what to type, and last what the ledger has.
 * @param isAll true to list each problem, false for each kind with its first places
 */
export function renderVerification(
  found: Verification & { directory: string },
  total: Total,
  isAll: boolean,
  view: View,
): string {
  const { findings, groups, counts, directory } = found;
  const all = problemsIn(found) + counts.torn;
  const listed = isAll ? findings.length : [...groups.values()].reduce((sum, { count }) => sum + count, 0);
  const kinds = Object.keys(counts).flatMap(
    (kind) => findings.find((finding) => finding.kind === kind) ?? [],
  );
  const parts = [
    layOutProse([verdictOn(found)], view.width)
      .split("\n")
      .map((line) => inTone(line, problemsIn(found) > 0 ? "failure" : "strong", view.isColoured))
      .join("\n"),
    findings.length > 0 && (isAll ? listFindings(findings, view) : listGroups([...groups.values()], view)),
    all > listed && `${formatNumber(all - listed)} more are not listed.`,
    ...kinds.map((first) => layOutProse(describeRemedy(directory, first), view.width)),
    layOutFacts(
      factsOf(found, total),
      Math.min(view.width, view.width === Infinity ? Infinity : MOST_CHARACTERS),
      view.isColoured,
    ).join("\n"),
  ];
  return parts.filter((part) => part !== false).join("\n\n");
}

function verdictOn(found: Verification): string {
  const { lines, days, counts } = found;
  const problems = problemsIn(found);
  const where = `${pluralize(lines, "line")} of ${pluralize(days, "day")}`;
  const torn =
    counts.torn > 0
      ? ` ${pluralize(counts.torn, "line")} ${counts.torn === 1 ? "was" : "were"} cut off.`
      : "";
  if (problems > 0) return `${pluralize(problems, "problem")} in ${where}.${torn}`;
  if (lines === 0) return "No problems: the ledger has no lines yet.";
  return torn === "" ? `No problems: all ${where} are intact.` : `No problems in ${where}.${torn}`;
}

/** What the ledger has, as `tollkeeper usage` reports it, and what no sum has. */
function factsOf(found: Verification & { directory: string }, total: Total): Fact[] {
  const { directory, bytes, laterFormat, summedOnly, setAside } = found;
  const { input_uncached: uncached, cache_read: read, cache_write: write, output, requests, failed } = total;
  const leftOut = [
    laterFormat > 0 &&
      `${pluralize(laterFormat, "record")} of a later release: to read ${laterFormat === 1 ? "it" : "them"}, update tollkeeper`,
    summedOnly.length > 0 && describeKept(summedOnly),
    ...setAside.map(
      ({ file, bytes: size }) => `${pluralize(size, "byte")} in ${file}, of lines that a crash had cut off`,
    ),
  ].filter((one) => one !== false);
  return [
    ["ledger", `${displayPath(directory, homedir())}, ${formatBytes(bytes)}`],
    [
      "requests",
      `${formatNumber(requests)} with token counts, and ${formatNumber(failed)} that failed, without the sandbox`,
    ],
    [
      "input",
      `${formatNumber(uncached)} tokens uncached, ${formatNumber(read)} from cache, ${formatNumber(write)} to cache`,
    ],
    ["output", `${formatNumber(output)} tokens`],
    ...leftOut.map((text, at): Fact => [at === 0 ? "in no sum" : "", text]),
  ];
}

/** Says what a kind of problem means for the sums, and what to type about its first place. */
function describeRemedy(directory: string, finding: Finding): string[] {
  const { meaning, purpose, command } = remedyFor(directory, finding);
  const said = `${SUBJECTS[finding.kind]} ${meaning}.`;
  return command === null ? [said] : [`${said} To ${purpose}, type:`, `  ${command}`];
}

/** There is nothing to compare kept sums with: that is no problem, but they must not be lost. */
function describeKept(files: readonly string[]): string {
  const days = files.map((file) => parseLedgerFileName(file)?.day);
  const isOne = files.length === 1;
  const range = isOne ? days[0] : `${pluralize(days.length, "day")}, ${days[0]} to ${days.at(-1)}`;
  const endings = new Set(files.map((file) => file.slice(file.indexOf("."))));
  const named = isOne ? files[0] : `their ${[...endings].join(" and ")} files`;
  return `${range}, whose records are deleted. Reports use the sums in ${named}, which ${isOne ? "is" : "are"} the only copy.`;
}

function listFindings(findings: readonly Finding[], view: View): string {
  const rows = findings.map((finding) => [
    toPrintable(placeOf(finding)),
    KINDS[finding.kind],
    describe(finding),
  ]);
  return layOutTable(FINDING_COLUMNS, rows, view).text;
}

function placeOf({ file, line }: Finding): string {
  return line === null ? file : `${file}:${line}`;
}

const FINDING_COLUMNS: readonly Column[] = [
  { head: "line", align: "left", long: "whole" },
  { head: "problem", align: "left", long: "whole" },
  { head: "what is wrong", align: "left" },
];

const GROUP_COLUMNS: readonly Column[] = [
  { head: "problem", align: "left", long: "whole" },
  { head: "found", align: "right" },
  { head: "what is wrong", align: "left" },
];

/** Lists each problem once, with its first places below it. */
function listGroups(groups: readonly FindingGroup[], view: View): string {
  const rows = groups.map(({ first: [first], count }) =>
    first === undefined ? [] : [KINDS[first.kind], formatNumber(count), describe(first)],
  );
  const below = groups.map(({ first, count }) => {
    const more = count > first.length ? `, ${formatNumber(count - first.length)} more: --all` : "";
    const places = toPrintable(first.map(placeOf).join(", "));
    return [{ text: `${places}${more}`, tone: "faint" as const }];
  });
  return layOutTable(GROUP_COLUMNS, rows, view, below).text;
}

/** The kinds in words. */
const KINDS: Readonly<Record<FindingKind, string>> = {
  torn: "cut off",
  unreadable: "unreadable",
  impossible: "contradiction",
  duplicate: "duplicate",
  rollup: "wrong sums",
  kept_rollup: "lost sums",
};

const SUBJECTS: Readonly<Record<FindingKind, string>> = {
  torn: "A line without an end",
  unreadable: "What is unreadable",
  impossible: "A record with a contradiction",
  duplicate: "A duplicate",
  rollup: "A file of wrong sums",
  kept_rollup: "A file of lost sums",
};

/** Fields of a record in words, where their names are no words. */
const FIELDS: Readonly<Record<string, string>> = {
  agent_kind: "kind of agent",
  agent_parent: "parent of the agent",
  attach_by_response_id: "of the response that is fetched later",
  attempt_of: "record of the first attempt",
  billed_usd: "billed amount",
  bytes_in: "size from the tool in bytes",
  bytes_out: "size to the tool in bytes",
  cache_read: "input from the cache",
  cache_write: "input to the cache",
  cut_by: "who cut it",
  duration_ms: "duration in ms",
  input_total: "input",
  input_uncached: "uncached input",
  largest_prompt: "largest prompt",
  miss_by: "source of the cache miss",
  miss_tokens: "tokens of the cache miss",
  smallest_prompt: "smallest prompt",
  ts: "time",
  ttft_ms: "time to the first token in ms",
};

/** Says what is wrong with fields in words. Values of the line are in quotes, and stay. A path is only in what is said of a file. */
function describe({ kind, line, what }: Finding): string {
  const isOfRecord = line !== null && (kind === "impossible" || kind === "unreadable");
  const parts = isOfRecord ? what.split(/("(?:[^"\\]|\\.)*"?)/) : [what];
  return toPrintable(
    parts.map((part, at) => (isOfRecord && at % 2 === 0 ? nameFields(part) : part)).join(""),
  );
}

function nameFields(text: string): string {
  return text
    .replace("the five cache_write_*", "the sum of its lifetimes")
    .replace(/\bcache_write_\w+/g, (name) => name.replaceAll("_", " "))
    .replace(/\b[a-z]+(?:_[a-z]+)*\b/g, (name) => FIELDS[name] ?? name);
}

/** What a problem means for the sums, and what to type, for what; null where there is nothing to type. */
interface Remedy {
  meaning: string;
  purpose: string;
  command: string | null;
}

/** Returns what a problem means, and what to type about it. */
export function remedyFor(directory: string, { kind, file, line }: Finding): Remedy {
  const path = join(directory, file);
  const look = line === null ? formatCommand(["ls", "-l", path]) : showLine(path, line);
  switch (kind) {
    case "torn":
      return {
        meaning: "was cut off by a crash or a full disk; it is in no sum, and there is nothing to do",
        purpose: "",
        command: null,
      };
    case "unreadable":
      return {
        meaning: "is in no sum; to remove it, stop the daemon first",
        purpose: "look at it",
        command: look,
      };
    case "impossible":
      return {
        meaning: "is in the sums as it stands",
        purpose: "compare it with the service's own counts",
        command: look,
      };
    case "rollup":
      return {
        meaning: "may make reports of that time wrong",
        purpose: "have the sums made again",
        // Not rm: whoever is wrong about what else there is still has the file.
        command: formatCommand(["mv", path, `${path}.wrong`]),
      };
    case "kept_rollup":
      return {
        meaning:
          "leaves reports without that day; restore the file from a backup, because nothing else has these sums",
        purpose: "look at it",
        command: look,
      };
    case "duplicate":
      return {
        meaning: "counts once, so there is nothing to do",
        purpose: "look at it",
        command: look,
      };
  }
}

/** Returns the command that shows a line of a file. */
function showLine(path: string, line: number): string {
  const show = ["sed", "-n", `${line}p`];
  if (!isCompressed(path)) return formatCommand([...show, path]);
  return `${formatCommand(["gzip", "-dc", path])} | ${formatCommand(show)}`;
}
