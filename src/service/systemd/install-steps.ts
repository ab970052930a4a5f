import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Failure } from "../../core/failure.ts";
import type { ServiceTarget, Step } from "../service-manager.ts";
import { maskedProblem } from "./find-problems.ts";
import { sandboxTrialCommand, TRIAL_EXIT_CODES } from "./trial-run.ts";
import { parseSettings } from "./unit-syntax.ts";
import { NOT_LOADED, resetFailedStep, systemctlStep, type UnitStates } from "./systemctl.ts";
import {
  readUnit,
  renderSandbox,
  renderService,
  renderSocket,
  SERVICE,
  SOCKET,
  type UnitPaths,
} from "./render-units.ts";

/**
 * Returns the steps that write, enable and start the units for `target`.
 * @param home the user's home directory
 * @throws Failure when a unit is masked, since writing its file would undo that
 */
export function installSteps(
  target: ServiceTarget,
  paths: UnitPaths,
  states: UnitStates,
  home: string,
): Step[] {
  refuseMasked(states.masked);
  const socket = target.port === 0 ? null : renderSocket(target.port);
  const units = [...(socket === null ? [] : [SOCKET]), SERVICE];
  return [
    ...target.writableDirectories.map((path): Step => ({ kind: "make-directory", path, mode: 0o700 })),
    { kind: "make-directory", path: dirname(paths.service), mode: 0o755 },
    writeStep(paths.service, renderService(target)),
    ...(socket === null ? removeSocketSteps(paths) : writeSocketSteps(paths, socket)),
    ...sandboxSteps(target, paths, home),
    systemctlStep("daemon-reload"),
    ...(mustStopFirst(socket, paths, states) ? [systemctlStep("stop", SOCKET, SERVICE)] : []),
    resetFailedStep(units),
    {
      ...systemctlStep("try-restart", SERVICE),
      ...(!isRestartPending(paths, states) && { ifChanged: true }),
    },
    systemctlStep("enable", "--now", ...units),
  ];
}

/** Removes the drop-in, and its directory unless the user keeps other drop-ins there. */
export function removeSandboxSteps(paths: UnitPaths): Step[] {
  return [
    { kind: "remove", path: paths.sandbox },
    { kind: "remove", path: dirname(paths.sandbox) },
  ];
}

/**
 * True when both units have to stop before the socket can start: systemd passes no new sockets to a running service, and
 * a listening socket keeps its port.
 */
function mustStopFirst(socket: string | null, paths: UnitPaths, states: UnitStates): boolean {
  if (socket === null) return false;
  if (!states.isListening) return states.startedAt.service !== null;
  return !hasSettings(paths.socket, socket) || isOutdated(states.startedAt.socket, paths.socket);
}

/** True when an earlier installation was interrupted before it restarted the service. */
function isRestartPending({ service, sandbox }: UnitPaths, states: UnitStates): boolean {
  return states.needsReload || [service, sandbox].some((path) => isOutdated(states.startedAt.service, path));
}

/** True when a running unit was started before its file last changed. */
function isOutdated(startedAt: number | null, path: string): boolean {
  const file = statSync(path, { throwIfNoEntry: false });
  return startedAt !== null && file !== undefined && startedAt < file.mtimeMs;
}

/** Tries the sandbox even where it is already in force, because the files that the daemon reads may have changed. */
function sandboxSteps(target: ServiceTarget, paths: UnitPaths, home: string): Step[] {
  if (target.runsKeyCommands || target.sandboxIncompatibleSettings.length > 0)
    return removeSandboxSteps(paths);
  const sandbox = renderSandbox(target);
  return [
    {
      kind: "try",
      what: "the sandbox of sandbox.conf",
      argv: sandboxTrialCommand(target, renderService(target), sandbox, home),
      exitCodes: TRIAL_EXIT_CODES,
      onSuccess: [
        { kind: "make-directory", path: dirname(paths.sandbox), mode: 0o755 },
        writeStep(paths.sandbox, sandbox),
      ],
      onFailure: removeSandboxSteps(paths),
    },
  ];
}

/** @throws Failure when there are masked units, which systemd does not start */
export function refuseMasked(units: readonly string[]): void {
  if (units.length === 0) return;
  const { message, fix } = maskedProblem(units);
  throw new Failure(message, fix);
}

/** Leaves a socket unit alone that differs in its comments only: a rewritten one would have to be stopped for a moment. */
function writeSocketSteps(paths: UnitPaths, socket: string): Step[] {
  return hasSettings(paths.socket, socket) ? [] : [writeStep(paths.socket, socket)];
}

function hasSettings(path: string, unit: string): boolean {
  return isDeepStrictEqual(parseSettings(readUnit(path)), parseSettings(unit));
}

function removeSocketSteps(paths: UnitPaths): Step[] {
  if (!existsSync(paths.socket)) return [];
  return [
    { ...systemctlStep("disable", "--now", SOCKET), tolerates: NOT_LOADED },
    { kind: "remove", path: paths.socket },
  ];
}

/** Units contain no secrets. */
function writeStep(path: string, text: string): Step {
  return { kind: "write", path, text, mode: 0o644 };
}
