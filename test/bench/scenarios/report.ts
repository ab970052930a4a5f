import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { summariseDay } from "../../../src/adapters/ledger-file/closed-days.ts";
import { addDays } from "../../../src/core/ledger/calendar.ts";
import { dayAt, dayFileName } from "../../../src/core/ledger/day.ts";
import { writeDay, writeLedgerConfig } from "../ledger.ts";
import type { Site } from "../site.ts";
import type { Scenario } from "./scenario.ts";

const PROGRAM = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));

/** Requests a day, and days, of the ledger that is summed up. */
export const PER_DAY = 5_000;
export const DAYS = 365;
export const MANY = 1_000_000;

/** Prints the most memory that a process had, in kB, when it ends. */
const PRINT_MEMORY =
  "data:text/javascript,process.on('exit', () => process.stderr.write(`\\n${process.resourceUsage().maxRSS}`))";

/** Reports on a day and a year that are summed up, and on a million records that are not. */
export const report: Scenario = {
  name: "report",
  title: `\`tollkeeper usage\`, whole process: yesterday, and a year of ${PER_DAY} requests a day, by their sums; ${MANY} records without sums; direct is bare node`,
  isInQuick: false,
  isInWarmUp: false,
  figures: [
    { key: "dayMs", title: "day ms", digits: 0 },
    { key: "yearMs", title: "year ms", digits: 0 },
    { key: "yearMb", title: "year MB", digits: 0 },
    { key: "manyMs", title: "million records ms", digits: 0 },
    { key: "manyMb", title: "million records MB", digits: 0 },
  ],
  async measure(site, { target }) {
    const values = { dayMs: NaN, yearMs: NaN, yearMb: NaN, manyMs: NaN, manyMb: NaN };
    if (target.name === "direct") {
      const { ms } = await run(["-e", "0"], site);
      return { values: { ...values, dayMs: ms, yearMs: ms, manyMs: ms }, faults: [], trust: null };
    }
    if (target.name !== "tollkeeper") return { values, faults: [], trust: null };
    const [year, many] = [await yearOf(site), await manyOf(site)];
    const day = await usage(year, ["--since", "yesterday"], site);
    const whole = await usage(year, ["--since", "365d"], site);
    const all = await usage(many, ["--since", "30d", "--by", "session"], site);
    const counts = [day.requests, whole.requests, all.requests];
    const faults =
      counts.join() === [PER_DAY, PER_DAY * (DAYS - 1), MANY].join() ? [] : [`counted ${counts.join()}`];
    return {
      values: { dayMs: day.ms, yearMs: whole.ms, yearMb: whole.mb, manyMs: all.ms, manyMb: all.mb },
      faults,
      trust: null,
    };
  },
};

const years = new WeakMap<Site, Promise<string>>();
const manies = new WeakMap<Site, Promise<string>>();

/** Returns the configuration of a ledger of a year that is summed up. */
export function yearOf(site: Site): Promise<string> {
  return keep(years, site, () => writeYear(site.directory));
}

/** Returns the configuration of a ledger of a million records without sums. */
function manyOf(site: Site): Promise<string> {
  return keep(manies, site, () => Promise.resolve(writeMany(site.directory)));
}

export function keep(
  known: WeakMap<Site, Promise<string>>,
  site: Site,
  write: () => Promise<string>,
): Promise<string> {
  let ledger = known.get(site);
  if (ledger === undefined) known.set(site, (ledger = write()));
  return ledger;
}

async function writeYear(directory: string): Promise<string> {
  const year = join(directory, "year");
  mkdirSync(year, { mode: 0o700 });
  const today = dayAt(Date.now());
  for (let before = DAYS - 1; before > 0; before -= 1) {
    const day = addDays(today, -before);
    writeDay(year, day, PER_DAY);
    await summariseDay(year, day, { cuts: [], limits: [] });
    // A year of records is 1.5 GB. Their sums are what is measured.
    rmSync(join(year, dayFileName(day)));
  }
  return writeLedgerConfig(year);
}

function writeMany(directory: string): string {
  const many = join(directory, "many");
  mkdirSync(many, { mode: 0o700 });
  const today = dayAt(Date.now());
  for (let before = 20; before > 0; before -= 1) writeDay(many, addDays(today, -before), MANY / 20);
  return writeLedgerConfig(many);
}

async function usage(config: string, words: readonly string[], site: Site) {
  const { ms, mb, stdout } = await timeUsage(config, ["--oneline", ...words], site);
  const requests = Number((/([\d,]+) requests/.exec(stdout)?.[1] ?? "").replaceAll(",", ""));
  return { ms, requests, mb };
}

/** Runs a report twice: what prints the memory takes time itself. */
export async function timeUsage(config: string, words: readonly string[], site: Site) {
  const line = [PROGRAM, "usage", "--utc", "--config", config, ...words];
  const { ms, stdout } = await run(line, site);
  const { stderr } = await run(["--import", PRINT_MEMORY, ...line], site);
  return { ms, stdout, mb: Number(stderr.split("\n").at(-1)) / 1024 };
}

async function run(line: readonly string[], { directory, placement }: Site) {
  const [program = "", ...args] = [...placement.commandLauncher, process.execPath, ...line];
  const start = performance.now();
  const env = { PATH: process.env["PATH"], HOME: directory, XDG_RUNTIME_DIR: directory };
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const read = [child.stdout, child.stderr].map((stream) =>
    stream.setEncoding("utf8").reduce((sum, text) => sum + text, ""),
  );
  await once(child, "close");
  const [stdout = "", stderr = ""] = await Promise.all(read);
  return { ms: performance.now() - start, stdout, stderr };
}
