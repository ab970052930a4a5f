import { listLedgerFiles, readDayLines } from "../../../adapters/ledger-file.ts";
import { listMonths, verifyMonth, verifyRollup } from "../../../adapters/ledger-file/closed-days.ts";
import { ledgerDirectory } from "../../../adapters/paths.ts";
import { Failure } from "../../../core/failure.ts";
import { UTC_CALENDAR } from "../../../core/ledger/calendar.ts";
import {
  dayFileName,
  hasRecords,
  isSums,
  monthFileName,
  sumsFileName,
  type SumsKind,
} from "../../../core/ledger/day.ts";
import { DaySums } from "../../../core/ledger/day-sums.ts";
import { ReportBuilder, sumOptionsOf } from "../../../core/ledger/report.ts";
import { DayVerifier, type Finding } from "../../../core/ledger/verify/day-verifier.ts";
import type { Argv } from "../../command-line.ts";
import { reportOptions, type ReportArguments } from "../../command.ts";
import { loadConfig } from "../../load-config.ts";
import { loadPrices } from "../../prices/load-prices.ts";
import { EXIT, hasColours, printJson, printStyled } from "../../terminal/console.ts";
import { formatNumber } from "../../terminal/format.ts";
import { problemsIn, remedyFor, renderVerification, type Total, type Verification } from "./verify-text.ts";

/** So many findings are listed. The others are only counted: a file of empty lines has millions. */
const MOST_LISTED = 1000;

/** So many places of the same problem are shown. */
const PLACES = 3;

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
  else {
    const view = { width: process.stdout.columns || Infinity, isColoured: hasColours() };
    printStyled(renderVerification({ directory, ...verification }, total, all, view));
  }
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

const SUMS = ["requests", "failed", "input_uncached", "cache_read", "cache_write", "output"] as const;

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

/** The same in a line. */
function fixFor(directory: string, finding: Finding): string {
  const { meaning, purpose, command } = remedyFor(directory, finding);
  return command === null ? `it ${meaning}` : `it ${meaning}; to ${purpose}, type: ${command}`;
}
