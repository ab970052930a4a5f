import { access, constants, lstat, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { freeBytes, readDayLines } from "../../../adapters/ledger-file.ts";
import { letWrite } from "../../../adapters/open-up.ts";
import { ledgerDirectory } from "../../../adapters/paths.ts";
import { failure, ok, skipped, warning, type Check, type Finding } from "../../../check/check.ts";
import { Failure, hasCode } from "../../../core/failure.ts";
import { dayAt, isMonthFileName, parseLedgerFileName } from "../../../core/ledger/day.ts";
import { NOTES_DIRECTORY } from "../../../core/ledger/note-file.ts";
import { DayVerifier } from "../../../core/ledger/verify/day-verifier.ts";
import { toPrintable } from "../../../core/text/printable.ts";
import { attempt } from "../../attempt.ts";
import { quoteForShell } from "../../../core/text/shell-words.ts";
import { displayPath, pluralize } from "../../terminal/format.ts";
import type { Evidence } from "../evidence.ts";
import { commandFor } from "../fix-commands.ts";
import {
  ledgerDirectoryFindings,
  ledgerFileFindings,
  notesDirectoryFindings,
  type LedgerFileStats,
} from "./ledger-permissions.ts";

/** So many days are verified: all of a long ledger would take minutes. */
const VERIFIED_DAYS = 7;
const DAY_MS = 24 * 60 * 60 * 1000;

const MB = 1_000_000;
const GB = 1_000 * MB;

/** Chosen so that a disk is reported before it is full; a record takes about 1 kB. */
const [FAILURE_BELOW, WARNING_BELOW] = [100 * MB, GB];

/** Checks that records can be written, that only their owner can read them, and that the disk has space. */
export const ledgerCheck: Check<Evidence> = {
  id: "ledger",
  title: "ledger",
  async run(evidence) {
    const config = await evidence.config();
    if (config === null) return [skipped("not checked: the configuration is invalid")];
    const directory = ledgerDirectory(config);
    const existing = await nearestExisting(directory);
    const free = await freeBytes(existing);
    const space = diskSpaceFindings(free, existing);
    if (!(await isWritable(existing))) {
      const open = letWrite(existing);
      const allow = open === null ? "make it writable" : `make it writable with: ${open}`;
      const move = `${allow}; or set another "ledger.directory" with: ${commandFor(evidence, "config edit")}`;
      return [failure(`${existing} is not writable`, move), ...space];
    }
    const name = displayPath(directory, evidence.home);
    if (existing !== directory)
      return findingsOrOk(space, `${name} does not exist yet; the first record creates it`);
    const files = await listLedgerFiles(directory);
    const self = process.geteuid?.() ?? null;
    const notes = join(directory, NOTES_DIRECTORY);
    const findings = [
      ...ledgerDirectoryFindings(directory, await lstat(directory), self),
      ...((await exists(notes)) ? notesDirectoryFindings(notes, await lstat(notes), self) : []),
      ...ledgerFileFindings(directory, files, self),
      ...(await lineFindings(directory, evidence)),
      ...space,
    ];
    return findingsOrOk(
      findings,
      `${name}: ${summaryOf(files)}; no problem in the lines of the last ${VERIFIED_DAYS} days; ${formatBytes(free)} free`,
    );
  },
};

/** Verifies the lines of the last days, as `ledger verify` does with all. What cannot be read has findings already. */
async function lineFindings(directory: string, evidence: Evidence): Promise<Finding[]> {
  let problems = 0;
  let first: string | null = null;
  const { failure: unread } = await attempt(Failure, async () => {
    for (let ago = VERIFIED_DAYS - 1; ago >= 0; ago -= 1) {
      const day = dayAt(evidence.now() - ago * DAY_MS);
      const verifier = new DayVerifier(day, ({ file, line, kind, what }) => {
        // A line that a crash cut off is no problem.
        if (kind === "torn") return;
        problems += 1;
        first ??= `${file}:${line ?? ""}: ${what}`;
      });
      for await (const line of readDayLines(directory, day)) verifier.add(line);
    }
  });
  if (unread !== null || problems === 0 || first === null) return [];
  const what = `${pluralize(problems, "line")} of the last ${VERIFIED_DAYS} days ${problems === 1 ? "has" : "have"} a problem, the first is ${toPrintable(first)}`;
  return [warning(what, commandFor(evidence, "ledger verify"))];
}

function findingsOrOk(findings: readonly Finding[], message: string): Finding[] {
  return findings.length > 0 ? [...findings] : [ok(message)];
}

/** Returns the directory, or its nearest ancestor that exists. */
async function nearestExisting(directory: string): Promise<string> {
  for (let at = directory; at !== dirname(at); at = dirname(at)) {
    if (await exists(at)) return at;
  }
  return "/";
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return false;
    throw error;
  }
}

function isWritable(directory: string): Promise<boolean> {
  return access(directory, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Returns the ledger's own files; others in the directory are ignored. */
async function listLedgerFiles(directory: string): Promise<LedgerFileStats[]> {
  const names = (await readdir(directory)).filter(
    (name) => parseLedgerFileName(name) !== null || isMonthFileName(name),
  );
  const files = names.toSorted().map(async (name) => ({ name, stats: await lstat(join(directory, name)) }));
  return Promise.all(files);
}

function summaryOf(files: readonly LedgerFileStats[]): string {
  const torn = files.filter(({ name }) => parseLedgerFileName(name)?.kind === "torn");
  const bytes = files.reduce((sum, { stats }) => sum + stats.size, 0);
  const count = new Set(files.flatMap(({ name }) => parseLedgerFileName(name)?.day ?? [])).size;
  const days = `${pluralize(count, "day")}, ${formatBytes(bytes)}`;
  if (torn.length === 0) return days;
  return `${days}; what a crash truncated: ${torn.map(({ name }) => name).join(", ")}`;
}

/** Reports a disk that is nearly full. `free` is in bytes. */
export function diskSpaceFindings(free: number, path: string): Finding[] {
  if (free >= WARNING_BELOW) return [];
  const what = `only ${formatBytes(free)} free on the disk of ${path}`;
  const fix = `free disk space; see usage with: df -h ${quoteForShell(path)}`;
  return [free < FAILURE_BELOW ? failure(what, fix) : warning(what, fix)];
}

/** Returns e.g. `12 bytes`, `3.4 MB`, `80.1 GB`, in decimal units. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < MB) return `${(bytes / 1_000).toFixed(1)} kB`;
  return bytes < GB ? `${(bytes / MB).toFixed(1)} MB` : `${(bytes / GB).toFixed(1)} GB`;
}
