import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import type { Plan, RunProgram } from "../../../src/service/service-manager.ts";
import { Systemd } from "../../../src/service/systemd.ts";
import { unitPaths, type UnitPaths } from "../../../src/service/systemd/units.ts";
import { scratchDirectory } from "../../helpers/keychain/keychain-session.ts";

/** What systemd says of the two units. */
export interface UnitAnswers {
  service?: Properties;
  socket?: Properties;
  linger?: "yes" | "no";
}

type Properties = Record<string, string | number>;

/** What `systemctl show` prints of the two units. */
export function showUnits({ service = {}, socket = {} }: UnitAnswers): string {
  return `${showUnit("tollkeeper.service", service)}\n${showUnit("tollkeeper.socket", socket)}`;
}

function showUnit(id: string, properties: Properties): string {
  const all = { ActiveState: "inactive", SubState: "dead", Result: "success", ...properties, Id: id };
  return Object.entries(all)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

/** In an hour: after whatever a test has written. In microseconds, by the clock of `process.hrtime`. */
const LATER = Number(process.hrtime.bigint() / 1000n) + 3_600_000_000;

export const LISTENING = {
  ActiveState: "active",
  SubState: "running",
  UnitFileState: "enabled",
  InactiveExitTimestampMonotonic: LATER,
};
export const RUNNING = { ...LISTENING, MainPID: 42 };

/** A user's systemd that only ever answers, with a directory of units of its own. */
export function startSystemd(t: TestContext, answers: UnitAnswers = {}) {
  const home = scratchDirectory(t);
  const unitDirectory = join(home, "units");
  const paths = unitPaths(unitDirectory);
  const run: RunProgram = ([program, , verb]) => {
    const stdout = new Map([
      ["systemctl", verb === "show" ? showUnits(answers) : ""],
      ["loginctl", answers.linger === undefined ? "" : `Linger=${answers.linger}\n`],
      ["journalctl", "one\ntwo\n"],
    ]).get(program ?? "");
    return Promise.resolve({ code: 0, stdout: stdout ?? "", stderr: "" });
  };
  const systemd = new Systemd({ uid: 7, userName: "ada", home, unitDirectory, run });
  return { systemd, home, paths };
}

/** Puts files where units are. */
export function putUnits(paths: UnitPaths, texts: Partial<Record<keyof UnitPaths, string>>): void {
  for (const [name, text] of Object.entries(texts)) {
    const path = paths[name as keyof UnitPaths];
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** The commands of a plan, those of what it tries left out. */
export function commandsOf({ steps }: Plan): string[] {
  return steps.flatMap((step) => (step.kind === "run" ? [step.argv.join(" ")] : []));
}

/** What a plan does to files: `write`, `remove` or `make-directory`, and the path. */
export function filesOf({ steps }: Plan): [string, string][] {
  return steps.flatMap((step) =>
    step.kind === "run" || step.kind === "try" ? [] : [[step.kind, step.path]],
  );
}
