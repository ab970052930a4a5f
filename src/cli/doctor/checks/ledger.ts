import type { Evidence } from "../evidence.ts";
import { access, constants, lstat, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseLedgerFileName } from "../../../core/ledger/day.ts";
import { hasCode } from "../../../core/thrown.ts";
import { pluralize } from "../../terminal/numbers.ts";
import { ledgerDirectory } from "../../../adapters/paths.ts";
import { freeBytes, diskSpaceFindings, formatBytes } from "./disk-space.ts";
import { failure, ok, skipped, type Check, type Finding } from "../../../check/check.ts";
import { ledgerDirectoryFindings, ledgerFileFindings, type LedgerFileStats } from "./ledger-permissions.ts";
import { displayPath } from "../../terminal/display-path.ts";
import { commandFor } from "../fix-commands.ts";

/** Checks that records can be written, that only their owner can read them, and that the disk has space. */
export const ledgerCheck: Check<Evidence> = {
  id: "ledger",
  title: "ledger",
  async run(evidence) {
    const config = await evidence.config();
    if (config === null) return [skipped("not looked at; the configuration is not good")];
    const directory = ledgerDirectory(config);
    const existing = await nearestExisting(directory);
    const free = await freeBytes(existing);
    const space = diskSpaceFindings(free, existing);
    if (!(await isWritable(existing))) {
      const move = `make it writable, or name another "ledger.directory" with: ${commandFor(evidence, "config edit")}`;
      return [failure(`${existing} cannot be written to`, move), ...space];
    }
    const name = displayPath(directory, evidence.home);
    if (existing !== directory) return findingsOrOk(space, `${name} is made with the first record`);
    const files = await listLedgerFiles(directory);
    const self = process.geteuid?.() ?? null;
    const findings = [
      ...ledgerDirectoryFindings(directory, await lstat(directory), self),
      ...ledgerFileFindings(directory, files, self),
      ...space,
    ];
    return findingsOrOk(findings, `${name}: ${summaryOf(files)}; ${formatBytes(free)} of the disk are free`);
  },
};

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

async function isWritable(directory: string): Promise<boolean> {
  const refusal: unknown = await access(directory, constants.W_OK | constants.X_OK).catch(
    (error: unknown) => error,
  );
  return refusal === undefined;
}

/** Returns the ledger's own files; others in the directory are ignored. */
async function listLedgerFiles(directory: string): Promise<LedgerFileStats[]> {
  const names = (await readdir(directory)).filter((name) => parseLedgerFileName(name) !== null);
  const files = names.toSorted().map(async (name) => ({ name, stats: await lstat(join(directory, name)) }));
  return Promise.all(files);
}

function summaryOf(files: readonly LedgerFileStats[]): string {
  const torn = files.filter(({ name }) => parseLedgerFileName(name)?.isTorn === true);
  const bytes = files.reduce((sum, { stats }) => sum + stats.size, 0);
  const days = `${pluralize(files.length - torn.length, "day")}, ${formatBytes(bytes)}`;
  if (torn.length === 0) return days;
  return `${days}, lines that a crash had cut off in ${torn.map(({ name }) => name).join(", ")}`;
}
