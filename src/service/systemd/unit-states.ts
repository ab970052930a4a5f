import type { RunProgram } from "../service-manager.ts";
import { SERVICE, SOCKET } from "./units.ts";

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
  /** True when the service's files have changed since systemd read them. */
  needsReload: boolean;
  /** Names of the masked units (`systemctl mask`). */
  masked: string[];
  /** e.g. `active (running) since Sat 2026-11-21 10:00:00 UTC`, `failed (exit-code, status 203)`. */
  detail: string;
}

const PROPERTIES =
  "Id,LoadState,ActiveState,SubState,Result,UnitFileState,NeedDaemonReload,MainPID,ExecMainStatus," +
  "ActiveEnterTimestamp,InactiveExitTimestampMonotonic";

/** Queries systemd for the state of both units. */
export async function queryUnitStates(run: RunProgram): Promise<UnitStates> {
  const argv = ["systemctl", "--user", "show", SERVICE, SOCKET, `--property=${PROPERTIES}`];
  const { stdout } = await run(argv);
  const units = parseShow(stdout);
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
    needsReload: service["NeedDaemonReload"] === "yes",
    masked: [service, socket].filter(({ LoadState }) => LoadState === "masked").map(({ Id = "" }) => Id),
    detail: describeState(service),
  };
}

/** Parses the output of `systemctl show`: lines of `Property=value`, with an empty line between units. */
function parseShow(text: string): Properties[] {
  return text.split(/\n{2,}/).map((block) =>
    Object.fromEntries(
      block
        .split("\n")
        .filter((line) => line.includes("="))
        .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
    ),
  );
}

/**
 * Returns the start of a unit in wall-clock time, to compare with file times. systemd prints wall-clock time in whole
 * seconds, so it is computed from the monotonic timestamp in microseconds. That clock stops during suspend: the result may
 * be too late, but is never too early.
 */
function startOf({ ActiveState: state, InactiveExitTimestampMonotonic: stamp }: Properties): number | null {
  if (stamp === undefined || ["inactive", "failed"].includes(state ?? "")) return null;
  const ageMs = Number(process.hrtime.bigint() / 1_000_000n) - Number(stamp) / 1000;
  return Date.now() - ageMs;
}

/** True until the unit is active again, including while systemd waits to restart it. */
function isFailed({ ActiveState: state, Result: result = "success" }: Properties): boolean {
  return result !== "success" && state !== "active";
}

function describeState(service: Properties): string {
  const { ActiveState: state = "", SubState: sub, Result: result, ExecMainStatus: status } = service;
  if (state === "") return "unknown";
  const hasFailed = result !== undefined && result !== "success";
  const reasons = [sub === state ? undefined : sub, hasFailed ? result : undefined];
  if (hasFailed && status !== undefined && status !== "0") reasons.push(`status ${status}`);
  const since = state === "active" ? ` since ${service["ActiveEnterTimestamp"]}` : "";
  const details = reasons.filter((reason) => reason !== undefined).join(", ");
  return `${state}${details === "" ? "" : ` (${details})`}${since}`;
}
