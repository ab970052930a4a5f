import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { writeLedgerConfig } from "../ledger.ts";
import type { Site } from "../site.ts";
import { writeWorkingDays } from "../working-day.ts";
import { DAYS, keep, MANY, timeUsage } from "./report.ts";
import type { Scenario } from "./scenario.ts";

/** What people ask of a year, and of the last 30 days, by the key of the figure. */
const QUESTIONS = {
  tool: ["--since", "365d", "--by", "tool"],
  model: ["--since", "365d", "--by", "model"],
  session: ["--since", "365d", "--by", "session"],
  "project,branch": ["--since", "365d", "--by", "project,branch"],
  agent: ["--since", "365d", "--by", "agent"],
  agent_kind: ["--since", "365d", "--by", "agent_kind"],
  key: ["--since", "365d", "--by", "key"],
  hour: ["--since", "365d", "--by", "hour"],
  "session of a tool": ["--since", "365d", "--tool", "codex", "--by", "session"],
  "session, 30 days": ["--since", "30d", "--by", "session"],
  "session, 30 days, JSON": ["--since", "30d", "--by", "session", "--json"],
  "session, CSV": ["--since", "365d", "--by", "session", "--csv"],
} as const;

/** Questions to a million records of a year, once their sums are made. */
export const questions: Scenario = {
  name: "questions",
  title: `\`tollkeeper usage\`, whole process: ${MANY} records of ${DAYS - 1} days, by their sums`,
  isInQuick: false,
  isInWarmUp: false,
  figures: Object.keys(QUESTIONS).flatMap((key) => [
    { key, title: `${key}, ms`, digits: 0 },
    { key: `${key} MB`, title: `${key}, MB`, digits: 0 },
  ]),
  async measure(site, { target }) {
    const values: Record<string, number> = {};
    const faults: string[] = [];
    const ledger = target.name === "tollkeeper" ? await keep(ledgers, site, () => writeLedger(site)) : null;
    for (const [key, words] of Object.entries(QUESTIONS)) {
      const { ms, mb, stdout } =
        ledger === null ? { ms: NaN, mb: NaN, stdout: "" } : await timeUsage(ledger, words, site);
      Object.assign(values, { [key]: ms, [`${key} MB`]: mb });
      if (ledger !== null && stdout === "") faults.push(`no answer by ${key}`);
    }
    return { values, faults, trust: null };
  },
};

const ledgers = new WeakMap<Site, Promise<string>>();

/** Writes the ledger and has its sums made. Returns the path of its configuration. */
async function writeLedger(site: Site): Promise<string> {
  const directory = join(site.directory, "working-days");
  mkdirSync(directory, { mode: 0o700 });
  writeWorkingDays(directory, DAYS - 1, Math.ceil(MANY / (DAYS - 1)));
  const config = writeLedgerConfig(directory);
  for (const by of ["tool", "session"]) await timeUsage(config, ["--since", "365d", "--by", by], site);
  return config;
}
