import { homedir } from "node:os";
import { join } from "node:path";
import { listLedgerFiles, readDayLines } from "../../../adapters/ledger-file.ts";
import { listMonths, verifyMonth, verifyRollup } from "../../../adapters/ledger-file/closed-days.ts";
import { ledgerDirectory } from "../../../adapters/paths.ts";
import { Failure } from "../../../core/failure.ts";
import { UTC_CALENDAR } from "../../../core/ledger/calendar.ts";
import {
  dayFileName,
  hasRecords,
  isCompressed,
  isSums,
  monthFileName,
  parseLedgerFileName,
  sumsFileName,
  type SumsKind,
} from "../../../core/ledger/day.ts";
import { DaySums } from "../../../core/ledger/day-sums.ts";
import { ReportBuilder, sumOptionsOf } from "../../../core/ledger/report.ts";
import type { Tally } from "../../../core/ledger/tally.ts";
import { DayVerifier, type Finding, type FindingKind } from "../../../core/ledger/verify/day-verifier.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { formatCommand } from "../../../core/text/shell-words.ts";
import type { Argv } from "../../command-line.ts";
import { reportOptions, type ReportArguments } from "../../command.ts";
import { loadConfig } from "../../load-config.ts";
import { loadPrices } from "../../prices/load-prices.ts";
import { EXIT, hasColours, print, printJson, printStyled } from "../../terminal/console.ts";
import { displayPath, formatNumber, pluralize } from "../../terminal/format.ts";
import { printProse } from "../../terminal/prose.ts";
import { formatTable, layOutTable, type Column } from "../../terminal/table.ts";

/** So many findings are listed. The others are only counted: a file of empty lines has millions. */
const MOST_LISTED = 1000;

/** So many places of the same problem are shown. */
const PLACES = 3;

/** Findings of one kind that differ only in their numbers. */
interface FindingGroup {
  count: number;
  /** The first of them, {@link PLACES} at most. */
  first: Finding[];
}

/** What was found in a whole ledger. */
interface Verification {
  days: number;
  bytes: number;
  lines: number;
  laterFormat: number;
  /** Files with the sums of days whose records are deleted, or some of them: the only copy, which cannot be checked. */
  summedOnly: string[];
  /** The first of them, in the order of days and lines. */
  findings: Finding[];
  /** The first of them, by what they have in common, {@link MOST_LISTED} at most. */
  groups: Map<string, FindingGroup>;
  counts: Record<FindingKind, number>;
  /** The files of truncated notes, and of lines that an earlier release moved away. */
  setAside: { file: string; bytes: number }[];
}

/** What `tollkeeper ledger verify` is asked. */
interface VerifyArguments extends ReportArguments {
  all: boolean;
}

/** Options of `tollkeeper ledger verify`. */
export function verifyOptions(yargs: Argv<object>) {
  return reportOptions(yargs).option("all", {
    type: "boolean",
    default: false,
    describe: `List each problem, ${formatNumber(MOST_LISTED)} at most; else three of a kind`,
  });
}

/** `tollkeeper ledger verify`: checks each line of each day. Exits with 1 if something is wrong. */
export async function verify({ config, json, all }: VerifyArguments): Promise<void> {
  const read = await loadConfig(config);
  const directory = ledgerDirectory(read);
  const verification: Verification = {
    days: 0,
    bytes: 0,
    lines: 0,
    laterFormat: 0,
    summedOnly: [],
    findings: [],
    groups: new Map(),
    counts: { torn: 0, unreadable: 0, impossible: 0, duplicate: 0, rollup: 0, kept_rollup: 0 },
    setAside: [],
  };
  const question = { by: [], calendar: UTC_CALENDAR, prices: await loadPrices(read), filter: {} };
  const report = new ReportBuilder(question);
  const files = await listLedgerFiles(directory);
  for (const { kind, name, bytes } of files)
    if (kind === "torn") verification.setAside.push({ file: name, bytes });
    else if (!isSums(kind)) verification.bytes += bytes;
  for (const day of new Set(files.filter(hasRecords).map((file) => file.day)))
    report.add(await verifyDay(directory, day, verification, new DaySums(sumOptionsOf(question))));
  for (const { day, kind } of files) if (isSums(kind)) await verifySums(directory, day, kind, verification);
  for (const month of listMonths(directory)) {
    const what = verifyMonth(directory, month, question.prices);
    if (what !== null)
      addFinding(verification, { file: monthFileName(month), line: null, kind: "rollup", what });
  }
  const total = report.finish().total.sums;
  if (json) printJson(toDocument(directory, verification, total));
  else printText(directory, verification, total, all);
  if (problemsIn(verification) > 0) process.exitCode = EXIT.failed;
}

/** Verifies the records of a day, and adds them to its sums. */
async function verifyDay(
  directory: string,
  day: string,
  found: Verification,
  sums: DaySums,
): Promise<DaySums> {
  const verifier = new DayVerifier(day, (finding) => addFinding(found, finding));
  found.days += 1;
  try {
    for await (const line of readDayLines(directory, day)) {
      const record = verifier.add(line);
      if (record !== null) sums.add(record);
    }
  } catch (error) {
    // A link or a directory in place of the file. The other days can still be verified.
    if (!(error instanceof Failure)) throw error;
    addFinding(found, { file: dayFileName(day), line: null, kind: "unreadable", what: error.message });
  }
  found.lines += verifier.lines;
  found.laterFormat += verifier.laterFormat;
  return sums;
}

/** Verifies the sums of a closed day against its records. Those of a day that has changed since are not used, and are no problem. */
async function verifySums(
  directory: string,
  day: string,
  kind: SumsKind,
  found: Verification,
): Promise<void> {
  const { problem, isOnlyCopy } = await verifyRollup(directory, day, kind);
  const file = sumsFileName(day, kind);
  if (isOnlyCopy) found.summedOnly.push(file);
  if (problem === null) return;
  const what = isOnlyCopy ? `${problem}, and the records are deleted` : problem;
  addFinding(found, {
    file,
    line: null,
    kind: isOnlyCopy ? "kept_rollup" : "rollup",
    what,
  });
}

function addFinding({ findings, groups, counts }: Verification, finding: Finding): void {
  counts[finding.kind] += 1;
  if (findings.length < MOST_LISTED) findings.push(finding);
  const same = `${finding.kind} ${finding.what.replaceAll(/\d[\d.,]*/g, "0")}`;
  const group = groups.get(same);
  if (group !== undefined) {
    group.count += 1;
    if (group.first.length < PLACES) group.first.push(finding);
  } else if (groups.size < MOST_LISTED) groups.set(same, { count: 1, first: [finding] });
}

function problemsIn({ counts: { torn: _torn, ...problems } }: Verification): number {
  return Object.values(problems).reduce((sum, count) => sum + count, 0);
}

const SUMS = ["requests", "failed", "input_uncached", "cache_read", "cache_write", "output"] as const;
type Total = Pick<Tally, (typeof SUMS)[number]>;

function toDocument(directory: string, verification: Verification, total: Total): object {
  const { findings, groups: _groups, counts, summedOnly, ...rest } = verification;
  return {
    ok: problemsIn(verification) === 0,
    directory,
    ...rest,
    summedOnly: summedOnly.length,
    counts,
    findings: findings.map((finding) => {
      const { file, line, kind, what } = finding;
      return { file, line, kind, message: what, fix: fixFor(directory, finding) };
    }),
    sums: Object.fromEntries(SUMS.map((name) => [name, total[name]])),
  };
}

function printText(directory: string, verification: Verification, total: Total, all: boolean): void {
  const { days, lines, bytes, findings, groups, laterFormat, summedOnly, setAside } = verification;
  const problems = problemsIn(verification);
  if (findings.length > 0 && all) print(`${listFindings(findings)}\n`);
  else if (findings.length > 0) printStyled(`${listGroups([...groups.values()])}\n`);
  const found = problems + verification.counts.torn;
  const listed = all ? findings.length : [...groups.values()].reduce((sum, { count }) => sum + count, 0);
  if (found > listed) print(`${formatNumber(found - listed)} more are not listed.\n`);
  const what = `${pluralize(lines, "line")} of ${pluralize(days, "day")} in ${displayPath(directory, homedir())}, ${pluralize(bytes, "byte")}`;
  const notes = [
    `Verified ${what}: ${describeCount(problems, verification.counts.torn)}.`,
    describeSums(total),
  ];
  if (laterFormat > 0)
    notes.push(
      `In no sum: ${pluralize(laterFormat, "record")} of a later release. To read ${laterFormat === 1 ? "it" : "them"}, update tollkeeper.`,
    );
  if (summedOnly.length > 0) notes.push(describeKept(summedOnly));
  for (const { file, bytes: size } of setAside)
    notes.push(`In no sum: ${pluralize(size, "byte")} in ${file}, of lines that a crash had cut off.`);
  for (const kind of Object.keys(verification.counts)) {
    const first = findings.find((finding) => finding.kind === kind);
    if (first !== undefined) notes.push(...describeRemedy(directory, first));
  }
  printProse(notes);
}

/** Says what a kind of problem means for the sums, and what to type about its first place. */
function describeRemedy(directory: string, finding: Finding): string[] {
  const { subject, meaning, purpose, command } = remedyFor(directory, finding);
  const said = `${subject} ${meaning}.`;
  return command === null ? ["", said] : ["", `${said} To ${purpose}, type:`, `  ${command}`];
}

/** There is nothing to compare kept sums with: that is no problem, but they must not be lost. */
function describeKept(files: readonly string[]): string {
  const days = files.map((file) => parseLedgerFileName(file)?.day);
  const isOne = files.length === 1;
  const range = isOne ? days[0] : `${pluralize(days.length, "day")}, ${days[0]} to ${days.at(-1)}`;
  const endings = new Set(files.map((file) => file.slice(file.indexOf("."))));
  const named = isOne ? files[0] : `their ${[...endings].join(" and ")} files`;
  return `Not compared, and in no sum: ${range}, whose records are deleted. Reports use the sums in ${named}, which ${isOne ? "is" : "are"} the only copy.`;
}

/** A torn line is listed, and nothing has to be done about it. */
function describeCount(problems: number, torn: number): string {
  const count = problems === 0 ? "no" : formatNumber(problems);
  if (torn > 0) return `${pluralize(torn, "torn line")}, ${count} other problem${problems === 1 ? "" : "s"}`;
  return `${count} problem${problems === 1 ? "" : "s"}`;
}

function listFindings(findings: readonly Finding[]): string {
  const rows = findings.map((finding) => [placeOf(finding), finding.kind, finding.what]);
  return formatTable(["line", "problem", "what is wrong"], rows);
}

function placeOf({ file, line }: Finding): string {
  return line === null ? file : `${file}:${line}`;
}

const GROUP_COLUMNS: readonly Column[] = [
  { head: "problem", align: "left", long: "whole" },
  { head: "found", align: "right" },
  { head: "what is wrong", align: "left" },
];

/** Lists each problem once, with its first places below it. */
function listGroups(groups: readonly FindingGroup[]): string {
  const rows = groups.map(({ first: [first], count }) => [
    first?.kind ?? "",
    formatNumber(count),
    toPrintable(first?.what ?? ""),
  ]);
  const below = groups.map(({ first, count }) => {
    const more = count > first.length ? `, ${formatNumber(count - first.length)} more: --all` : "";
    const places = toPrintable(first.map(placeOf).join(", "));
    return [{ text: `${places}${more}`, tone: "faint" as const }];
  });
  const view = { width: process.stdout.columns || Infinity, isColoured: hasColours() };
  return layOutTable(GROUP_COLUMNS, rows, view, below).text;
}

/** As `tollkeeper usage` reports them. */
function describeSums({ requests, failed, ...total }: Total): string {
  const tokens = [
    `${formatNumber(total.input_uncached)} uncached input`,
    `${formatNumber(total.cache_read)} cache read`,
    `${formatNumber(total.cache_write)} cache write`,
    `${formatNumber(total.output)} output`,
  ];
  return `Apart from the sandbox, it has ${pluralize(requests, "request")} with token counts (${tokens.join(", ")}), and ${formatNumber(failed)} that failed.`;
}

/** What a problem means for the sums, and what to type, for what; null where there is nothing to type. */
interface Remedy {
  subject: string;
  meaning: string;
  purpose: string;
  command: string | null;
}

function remedyFor(directory: string, { kind, file, line }: Finding): Remedy {
  const path = join(directory, file);
  const look = line === null ? formatCommand(["ls", "-l", path]) : showLine(path, line);
  switch (kind) {
    case "torn":
      return {
        subject: "A torn line",
        meaning: "was cut off by a crash or a full disk; it is in no sum, and there is nothing to do",
        purpose: "",
        command: null,
      };
    case "unreadable":
      return {
        subject: "What is unreadable",
        meaning: "is in no sum; to remove it, stop the daemon first",
        purpose: "look at it",
        command: look,
      };
    case "impossible":
      return {
        subject: "An impossible record",
        meaning: "is in the sums as it stands",
        purpose: "compare it with the service's own counts in raw_usage",
        command: look,
      };
    case "rollup":
      return {
        subject: "A wrong rollup",
        meaning: "may make reports of that time wrong",
        purpose: "have the sums made again",
        // Not rm: whoever is wrong about what else there is still has the file.
        command: formatCommand(["mv", path, `${path}.wrong`]),
      };
    case "kept_rollup":
      return {
        subject: "A kept rollup that cannot be read",
        meaning:
          "leaves reports without that day; restore the file from a backup, because nothing else has these sums",
        purpose: "look at it",
        command: look,
      };
    case "duplicate":
      return {
        subject: "A duplicate",
        meaning: "counts once, so there is nothing to do",
        purpose: "look at it",
        command: look,
      };
  }
}

/** The same in a line. */
function fixFor(directory: string, finding: Finding): string {
  const { meaning, purpose, command } = remedyFor(directory, finding);
  return command === null ? `it ${meaning}` : `it ${meaning}; to ${purpose}, type: ${command}`;
}

/** Returns the command that shows a line of a file. */
function showLine(path: string, line: number): string {
  const show = ["sed", "-n", `${line}p`];
  if (!isCompressed(path)) return formatCommand([...show, path]);
  return `${formatCommand(["gzip", "-dc", path])} | ${formatCommand(show)}`;
}
