import type { RunProgram } from "../service-manager.ts";
import { SERVICE, SOCKET } from "./units.ts";

/** What systemd says of one unit, by the names of its properties; empty for what it does not say. */
type Properties = Partial<Record<string, string>>;

/** What systemd says of both units right now. */
export interface UnitsNow {
  isEnabled: boolean;
  isRunning: boolean;
  /** Did the service, or the socket that is to be there before it, end badly, or not start at all? */
  hasFailed: boolean;
  /** Does systemd listen on the port, for a daemon that runs or one that a connection would start? */
  isListening: boolean;
  pid: number | null;
  /** When each was last started, in milliseconds since 1970; null for what does not run. */
  startedAt: { service: number | null; socket: number | null };
  /** Has systemd read other files of the service's than those that are there? */
  needsReload: boolean;
  /** Those of the two whose start somebody has forbidden (`systemctl mask`). */
  masked: string[];
  /** e.g. `active (running) since Sat 2026-11-21 10:00:00 UTC`, `failed (exit-code, status 203)`. */
  detail: string;
}

const PROPERTIES = [
  "Id",
  "LoadState",
  "ActiveState",
  "SubState",
  "Result",
  "UnitFileState",
  "NeedDaemonReload",
  "MainPID",
  "ExecMainStatus",
  "ActiveEnterTimestamp",
  "InactiveExitTimestampMonotonic",
].join(",");

/** Asks systemd for the state of the service and of its socket. */
export async function askUnits(run: RunProgram): Promise<UnitsNow> {
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
    detail: describe(service),
  };
}

/** Units stand one below the other, with an empty line between them; a line is `Property=value`. */
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
 * By the clock of the files, which systemd tells to the second only: from the one that it tells to the microsecond. That
 * stands still while the machine sleeps, so it may be later than it was, and is never earlier.
 */
function startOf({ ActiveState: state, InactiveExitTimestampMonotonic: stamp }: Properties): number | null {
  if (stamp === undefined || ["inactive", "failed"].includes(state ?? "")) return null;
  const ageMs = Number(process.hrtime.bigint() / 1_000_000n) - Number(stamp) / 1000;
  return Date.now() - ageMs;
}

/** Until it runs again, also while systemd waits to start it anew. */
function isFailed({ ActiveState: state, Result: result = "success" }: Properties): boolean {
  return result !== "success" && state !== "active";
}

function describe(service: Properties): string {
  const { ActiveState: state = "", SubState: sub, Result: result, ExecMainStatus: status } = service;
  if (state === "") return "unknown";
  const hasFailed = result !== undefined && result !== "success";
  const reasons = [sub === state ? undefined : sub, hasFailed ? result : undefined];
  if (hasFailed && status !== undefined && status !== "0") reasons.push(`status ${status}`);
  const since = state === "active" ? ` since ${service["ActiveEnterTimestamp"]}` : "";
  const told = reasons.filter((reason) => reason !== undefined).join(", ");
  return `${state}${told === "" ? "" : ` (${told})`}${since}`;
}
