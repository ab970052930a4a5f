import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import type { Plan } from "../../../src/service/service-manager.ts";
import type { RunProgram } from "../../../src/service/run-program.ts";
import { Systemd } from "../../../src/service/systemd.ts";
import { unitPaths, type UnitPaths } from "../../../src/service/systemd/render-units.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

/** The properties that systemd reports for the two units, and the linger state. */
export interface SystemdState {
  service?: Properties;
  socket?: Properties;
  linger?: "yes" | "no";
  /** What `systemd-analyze verify` says; nothing by default. */
  verdict?: string;
  /** What `systemctl show-environment` prints. */
  environment?: string;
}

type Properties = Record<string, string | number>;

/** Returns the output of `systemctl show` for the two units. */
export function showUnits({ service = {}, socket = {} }: SystemdState): string {
  return `${showUnit("tollkeeper.service", service)}\n${showUnit("tollkeeper.socket", socket)}`;
}

function showUnit(id: string, properties: Properties): string {
  const all = { ActiveState: "inactive", SubState: "dead", Result: "success", ...properties, Id: id };
  return Object.entries(all)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

/** One hour from now, after any file that a test writes. In microseconds on the clock of `process.hrtime`. */
const LATER = Number(process.hrtime.bigint() / 1000n) + 3_600_000_000;

export const LISTENING = {
  ActiveState: "active",
  SubState: "running",
  UnitFileState: "enabled",
  InactiveExitTimestampMonotonic: LATER,
};
export const RUNNING = { ...LISTENING, MainPID: 42 };

/** Creates a Systemd whose programs only return `state`, with a unit directory of its own. */
export function createSystemd(t: TestContext, state: SystemdState = {}) {
  const home = scratchDirectory(t);
  const unitDirectory = join(home, "units");
  const paths = unitPaths(unitDirectory);
  const run: RunProgram = ([program, , verb]) => {
    const stdout = new Map([
      ["systemctl", verb === "show" ? showUnits(state) : (state.environment ?? "")],
      ["loginctl", state.linger === undefined ? "" : `Linger=${state.linger}\n`],
      ["journalctl", "one\ntwo\n"],
    ]).get(program ?? "");
    const verdict = program === "systemd-analyze" ? state.verdict : undefined;
    // It succeeds as long as it only ignores what is wrong.
    const code = verdict === undefined || /ignoring/.test(verdict) ? 0 : 1;
    return Promise.resolve({ code, stdout: stdout ?? "", stderr: verdict ?? "" });
  };
  const systemd = new Systemd({ uid: 7, userName: "ada", home, unitDirectory, run });
  return { systemd, home, paths };
}

/** Writes unit files. */
export function writeUnits(paths: UnitPaths, texts: Partial<Record<keyof UnitPaths, string>>): void {
  for (const [name, text] of Object.entries(texts)) {
    const path = paths[name as keyof UnitPaths];
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** Returns the commands of a plan, without those of its `try` steps. */
export function commandsOf({ steps }: Plan): string[] {
  return steps.flatMap((step) => (step.kind === "run" ? [step.argv.join(" ")] : []));
}

/** Returns the file steps of a plan: `write`, `remove` or `make-directory`, and the path. */
export function filesOf({ steps }: Plan): [string, string][] {
  return steps.flatMap((step) =>
    step.kind === "run" || step.kind === "try" ? [] : [[step.kind, step.path]],
  );
}
