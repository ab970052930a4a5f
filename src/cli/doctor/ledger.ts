import type { Stats } from "node:fs";
import { access, constants, lstat, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseLedgerFileName } from "../../core/ledger/day.ts";
import { hasCode } from "../../core/thrown.ts";
import { countOf } from "../terminal/count-of.ts";
import { ledgerDirectory } from "../../adapters/paths.ts";
import { freeBytes, judgeSpace, writeBytes } from "./disk-space.ts";
import { failure, ok, skipped, type Check, type Finding } from "./finding.ts";
import { judgeLedgerDirectory, judgeLedgerFiles, type SeenFile } from "./ledger-files.ts";
import { commandFor, shorten } from "../hints.ts";

/** Can records be written, are they for their owner's eyes only, and how much room is left? */
export const ledgerCheck: Check = {
  id: "ledger",
  title: "ledger",
  async look(evidence) {
    const config = await evidence.config();
    if (config === null) return [skipped("not looked at; the configuration is not good")];
    const directory = ledgerDirectory(config);
    const existing = await nearestExisting(directory);
    const free = await freeBytes(existing);
    const space = judgeSpace(free, existing);
    if (!(await isWritable(existing))) {
      const move = `make it writable, or name another "ledger.directory" with: ${commandFor(evidence, "config edit")}`;
      return [failure(`${existing} cannot be written to`, move), ...space];
    }
    const name = shorten(directory, evidence.home);
    if (existing !== directory) return orElse(space, `${name} is made with the first record`);
    const files = await filesIn(directory);
    const self = process.geteuid?.() ?? null;
    const findings = [
      ...judgeLedgerDirectory(directory, await lstat(directory), self),
      ...judgeLedgerFiles(directory, files, self),
      ...space,
    ];
    return orElse(findings, `${name}: ${summaryOf(files)}; ${writeBytes(free)} of the disk are free`);
  },
};

function orElse(findings: readonly Finding[], message: string): Finding[] {
  return findings.length > 0 ? [...findings] : [ok(message)];
}

/** The directory, or the nearest one above it that is there. */
async function nearestExisting(directory: string): Promise<string> {
  for (let at = directory; at !== dirname(at); at = dirname(at)) {
    if (await isThere(at)) return at;
  }
  return "/";
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return false;
    throw error;
  }
}

async function isWritable(directory: string): Promise<boolean> {
  return access(directory, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** The ledger's own; others are none of our business. */
async function filesIn(directory: string): Promise<SeenFile[]> {
  const names = (await readdir(directory)).filter((name) => parseLedgerFileName(name) !== null);
  const files: SeenFile[] = [];
  for (const name of names.toSorted()) {
    const stats: Stats = await lstat(join(directory, name));
    files.push({ name, stats });
  }
  return files;
}

function summaryOf(files: readonly SeenFile[]): string {
  const torn = files.filter(({ name }) => parseLedgerFileName(name)?.isTorn === true);
  const bytes = files.reduce((sum, { stats }) => sum + stats.size, 0);
  const days = `${countOf(files.length - torn.length, "day")}, ${writeBytes(bytes)}`;
  if (torn.length === 0) return days;
  return `${days}, lines that a crash had cut off in ${torn.map(({ name }) => name).join(", ")}`;
}
