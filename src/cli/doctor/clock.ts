import { constants } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseLedgerFileName } from "../../core/ledger/day.ts";
import { parseRecord } from "../../core/ledger/parse-record.ts";
import { ledgerDirectory } from "../../adapters/paths.ts";
import type { Evidence } from "./evidence.ts";
import { ok, warning, type Check } from "./finding.ts";

/** What must not lie in the future, nor, for a time just told by somebody else, in the past. */
export interface Witness {
  /** Milliseconds since 1970. */
  at: number;
  /** e.g. `the newest record`. */
  what: string;
  /** Was it told just now? */
  isNow: boolean;
}

/** Clocks of different machines differ by seconds; a wrong time zone, or an empty battery, by far more. */
const TOLERATED_MS = 5 * 60_000;

const SET_CLOCK =
  process.platform === "darwin" ? "sudo sntp -sS time.apple.com" : "sudo timedatectl set-ntp true";

/** Room for the longest record. */
const TAIL_BYTES = 256 * 1024;

/** Is this machine's clock right, by what can be known without asking one? Records are booked on its day. */
export const clockCheck: Check = {
  id: "clock",
  title: "clock",
  async look(evidence) {
    const witnesses = [
      await witnessOfProgram(),
      await witnessOfLedger(evidence),
      ...(await witnessesUpstream(evidence)),
    ];
    const now = evidence.now();
    const against = judgeClock(
      now,
      witnesses.filter((witness) => witness !== null),
    );
    if (against === null) return [ok(`${writeTime(now)}; nothing speaks against it`)];
    return [warning(against, SET_CLOCK)];
  },
};

/** What speaks against `now`; null for nothing. */
export function judgeClock(now: number, witnesses: readonly Witness[]): string | null {
  const against = witnesses.find(({ at, isNow }) => {
    return at - now > TOLERATED_MS || (isNow && now - at > TOLERATED_MS);
  });
  return against === undefined
    ? null
    : `it is ${writeTime(now)} by this clock, and ${against.what} is of ${writeTime(against.at)}`;
}

function writeTime(at: number): string {
  return new Date(at).toISOString();
}

/** The program cannot have been installed after now. */
async function witnessOfProgram(): Promise<Witness> {
  const { mtimeMs } = await stat(new URL(import.meta.url));
  return { at: mtimeMs, what: "this program", isNow: false };
}

/** Their answers took seconds at most, which is tolerated. */
async function witnessesUpstream(evidence: Evidence): Promise<Witness[]> {
  return (await evidence.answers()).flatMap(({ key, answer }) => {
    const at = answer?.at ?? null;
    return at === null ? [] : [{ at, what: `the answer of upstream ${key.upstream.name}`, isNow: true }];
  });
}

async function witnessOfLedger(evidence: Evidence): Promise<Witness | null> {
  const config = await evidence.config();
  if (config === null) return null;
  const line = await newestLine(ledgerDirectory(config));
  const record = line === null ? "unreadable" : parseRecord(line);
  if (typeof record === "string") return null;
  return { at: Date.parse(record.ts), what: "the newest record of the ledger", isNow: false };
}

/** The last whole line of the newest day; null where the ledger's own check says more. */
async function newestLine(directory: string): Promise<string | null> {
  try {
    const names = (await readdir(directory)).filter((name) => parseLedgerFileName(name)?.isTorn === false);
    const newest = names.toSorted().at(-1);
    return newest === undefined ? null : lastLineOf(join(directory, newest));
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
