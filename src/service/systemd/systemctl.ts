import type { RunProgram } from "../run-program.ts";
import type { Step } from "../service-manager.ts";
import { SERVICE, SOCKET } from "./render-units.ts";
import { splitWords } from "./unit-syntax.ts";

/** Returns a call of systemctl for the user's systemd. */
export function systemctlStep(...words: string[]): Extract<Step, { kind: "run" }> {
  return { kind: "run", argv: ["systemctl", "--user", ...words] };
}

/** What systemctl prints for a unit that has never run or whose file is broken: there is nothing to stop or to reset. */
export const NOT_LOADED = /not loaded/;

/** Clears the start limit. Without this, systemd refuses to start a unit that has failed too often. */
export function resetFailedStep(units: readonly string[]): Step {
  return { ...systemctlStep("reset-failed", ...units), tolerates: NOT_LOADED };
}

/** The properties of one unit by name, without those that systemd does not print. */
type Properties = Partial<Record<string, string>>;

/** The current state of the service and the socket. */
export interface UnitStates {
  isEnabled: boolean;
  isRunning: boolean;
  /** True when the service, or the socket that has to start before it, has failed and is not running again. */
  hasFailed: boolean;
  /** True when systemd listens on the port, whether the daemon runs or a connection would start it. */
  isListening: boolean;
  pid: number | null;
  /** When each unit was started, in milliseconds since 1970; null for one that is not running. */
  startedAt: { service: number | null; socket: number | null };
  /** True when the files of a unit have changed since systemd read them. */
  needsReload: boolean;
  /** Paths of all drop-ins that systemd has read, our own included. */
  dropIns: string[];
  /** Names of the masked units (`systemctl mask`). */
  masked: string[];
  /** e.g. `active (running) since Sat 2026-11-21 10:00:00 UTC`, `failed (exit-code, status 203)`. */
  detail: string;
}

const PROPERTIES =
  "Id,LoadState,ActiveState,SubState,Result,UnitFileState,NeedDaemonReload,DropInPaths,MainPID,ExecMainStatus," +
  "ConditionResult,ConditionTimestamp,ActiveEnterTimestamp,InactiveExitTimestampMonotonic";

/** Queries systemd for the state of both units. */
export async function queryUnitStates(run: RunProgram): Promise<UnitStates> {
  const { argv } = systemctlStep("show", SERVICE, SOCKET, `--property=${PROPERTIES}`);
  const units = parseShow((await run(argv)).stdout);
  const service = units.find(({ Id }) => Id === SERVICE) ?? {};
  const socket = units.find(({ Id }) => Id === SOCKET) ?? {};
  const pid = Number(service["MainPID"] ?? 0);
  return {
    isEnabled: [service, socket].some(({ UnitFileState }) => UnitFileState === "enabled"),
    isRunning: ["active", "reloading"].includes(service["ActiveState"] ?? ""),
    hasFailed: [service, socket].some(isFailed),
    isListening: socket["ActiveState"] === "active",
    pid: pid > 0 ? pid : null,
    startedAt: { service: startOf(service), socket: startOf(socket) },
    needsReload: [service, socket].some((unit) => unit["NeedDaemonReload"] === "yes"),
    dropIns: [service, socket].flatMap(({ DropInPaths: paths = "" }) => splitWords(paths)),
    masked: [service, socket].filter(({ LoadState }) => LoadState === "masked").map(({ Id = "" }) => Id),
    detail: describeState(service),
  };
}

/** Queries systemd for the variables with which it starts the service: its own, and those of the unit (systemd.exec(5)). */
export async function queryEnvironment(run: RunProgram): Promise<Record<string, string>> {
  const [manager, unit] = await Promise.all([
    run(systemctlStep("show-environment").argv),
    run(systemctlStep("show", SERVICE, "--property=Environment").argv),
  ]);
  const assigned = /^Environment=(.*)$/m.exec(unit.stdout)?.[1] ?? "";
  // A value with special characters is printed as $'...'.
  const inherited = manager.stdout.split("\n").map((line) => line.replace(/=\$'(.*)'$/, "=$1"));
  const pairs = [...inherited, ...splitWords(assigned)].map((text) => /^(\w+)=(.*)$/s.exec(text));
  return Object.fromEntries(pairs.flatMap((pair) => (pair === null ? [] : [[pair[1], pair[2]]])));
}

/** Parses the output of `systemctl show`: lines of `Property=value`, with an empty line between units. */
function parseShow(text: string): Properties[] {
  return text.split(/\n{2,}/).map((unit) => {
    const properties = unit.matchAll(/^(\w+)=(.*)$/gm);
    return Object.fromEntries(Array.from(properties, ([, name = "", value = ""]) => [name, value]));
  });
}

/**
 * Returns the start of a unit in wall-clock time, to compare with file times. systemd prints that in whole seconds, so it is
 * computed from the monotonic time in microseconds. This clock stops during suspend: the result may be too late, never too
 * early.
 */
function startOf({ ActiveState: state, InactiveExitTimestampMonotonic: stamp }: Properties): number | null {
  if (stamp === undefined || ["inactive", "failed"].includes(state ?? "")) return null;
  const ageMs = Number(process.hrtime.bigint() / 1_000_000n) - Number(stamp) / 1000;
  return Date.now() - ageMs;
}

/** True until the unit is active again, including while systemd waits to restart it. */
function isFailed(unit: Properties): boolean {
  const { ActiveState: state, Result: result = "success" } = unit;
  return (result !== "success" || isConditionUnmet(unit)) && state !== "active";
}

/** True when systemd has skipped the last start because of a condition. A unit that was never started has no such time. */
function isConditionUnmet({ ConditionResult: result, ConditionTimestamp: at = "" }: Properties): boolean {
  return result === "no" && at !== "";
}

function describeState(service: Properties): string {
  const { ActiveState: state = "", SubState: sub = state, Result: result = "success" } = service;
  if (state === "") return "unknown";
  const details = sub === state ? [] : [sub];
  if (result !== "success") {
    const { ExecMainStatus: status = "0" } = service;
    details.push(result, ...(status === "0" ? [] : [`status ${status}`]));
  }
  if (isConditionUnmet(service)) details.push("condition unmet");
  const since = state === "active" ? ` since ${service["ActiveEnterTimestamp"]}` : "";
  return `${state}${details.length === 0 ? "" : ` (${details.join(", ")})`}${since}`;
}
