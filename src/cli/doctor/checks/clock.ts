import { constants } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseLedgerFileName } from "../../../core/ledger/day.ts";
import { parseRecord } from "../../../core/ledger/parse-record.ts";
import { ledgerDirectory } from "../../../adapters/paths.ts";
import type { Evidence } from "../evidence.ts";
import { ok, warning, type Check } from "../../../check/check.ts";
import { localTime } from "../../terminal/short-time.ts";

/** A known time. The clock must not be earlier and, if it is a current time, not later either. */
interface TimeReference {
  /** Milliseconds since 1970. */
  at: number;
  /** What is of this time, e.g. `the newest record`. */
  what: string;
  /** True when it is the current time of another clock. */
  isCurrent: boolean;
}

/** Clocks of different machines differ by seconds; a wrong time zone or an empty battery makes a far larger difference. */
const TOLERATED_MS = 5 * 60_000;

const SET_CLOCK =
  process.platform === "darwin" ? "sudo sntp -sS time.apple.com" : "sudo timedatectl set-ntp true";

/** More than the longest record. */
const TAIL_BYTES = 256 * 1024;

/** Checks this machine's clock against known times, without asking a time server. Records are filed by its date. */
export const clockCheck: Check<Evidence> = {
  id: "clock",
  title: "clock",
  async run(evidence) {
    const installed = await programInstallTime();
    const references = [installed, ...(await newestRecordTime(evidence)), ...(await upstreamTimes(evidence))];
    const now = evidence.now();
    const contradiction = findClockContradiction(now, references);
    if (contradiction === null) return [ok(`${formatTime(now)}; it seems right`)];
    return [warning(contradiction, SET_CLOCK)];
  },
};

/** Describes the first reference that contradicts `now`; null when none does. */
export function findClockContradiction(now: number, references: readonly TimeReference[]): string | null {
  const contradicting = references.find(({ at, isCurrent }) => {
    return at - now > TOLERATED_MS || (isCurrent && now - at > TOLERATED_MS);
  });
  return contradicting === undefined
    ? null
    : `this clock says ${formatTime(now)}, but ${contradicting.what} is from ${formatTime(contradicting.at)}`;
}

function formatTime(at: number): string {
  return localTime(new Date(at).toISOString());
}

/** The program cannot have been installed in the future. */
async function programInstallTime(): Promise<TimeReference> {
  const { mtimeMs } = await stat(new URL(import.meta.url));
  return { at: mtimeMs, what: "this program", isCurrent: false };
}

/** Responses are at most seconds old, which is tolerated. */
async function upstreamTimes(evidence: Evidence): Promise<TimeReference[]> {
  return (await evidence.upstreams()).probes.flatMap(({ key, response }) => {
    const at = response?.date ?? null;
    return at === null
      ? []
      : [{ at, what: `the response of upstream ${key.upstream.name}`, isCurrent: true }];
  });
}

/** Empty when there is no record. */
async function newestRecordTime(evidence: Evidence): Promise<TimeReference[]> {
  const config = await evidence.config();
  if (config === null) return [];
  const line = await newestLine(ledgerDirectory(config));
  const record = line === null ? "unreadable" : parseRecord(line);
  if (typeof record === "string") return [];
  return [{ at: Date.parse(record.ts), what: "the newest record of the ledger", isCurrent: false }];
}

/** Returns the last complete line of the newest day; null when it cannot be read, which the ledger check reports. */
async function newestLine(directory: string): Promise<string | null> {
  try {
    const names = (await readdir(directory)).filter((name) => parseLedgerFileName(name)?.kind === "records");
    const newest = names.toSorted().at(-1);
    return newest === undefined ? null : await lastLineOf(join(directory, newest));
  } catch {
    return null;
  }
}

async function lastLineOf(path: string): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(TAIL_BYTES),
      position: Math.max(0, size - TAIL_BYTES),
    });
    return buffer.toString("utf8", 0, bytesRead).split("\n").at(-2) ?? null;
  } finally {
    await file.close();
  }
}
