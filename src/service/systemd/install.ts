import { existsSync, readFileSync, statSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { dirname } from "node:path";
import { Failure } from "../../core/failure.ts";
import type { ServiceTarget, Step } from "../service-manager.ts";
import { TRIAL_EXIT_CODES, trialCommand } from "./sandbox-trial.ts";
import type { UnitsNow } from "./units-now.ts";
import { renderSandbox, renderService, renderSocket, SERVICE, SOCKET, type UnitPaths } from "./units.ts";

/** What the steps of an installation are made from. */
export interface Installation {
  target: ServiceTarget;
  paths: UnitPaths;
  now: UnitsNow;
  /** The person's home directory. */
  home: string;
}

/** There is nothing in a unit that others must not see. */
const UNIT_MODE = 0o644;

/**
 * What must be done so that the units are there, enabled and started as `target` says.
 * @throws Failure when one is masked: writing the unit would undo that
 */
export function installSteps({ target, paths, now, home }: Installation): Step[] {
  refuseMasked(now.masked);
  const socket = target.port === 0 ? null : renderSocket(target.port, hasIpv6());
  const units = [...(socket === null ? [] : [SOCKET]), SERVICE];
  return [
    ...target.writable.map((path): Step => ({ kind: "make-directory", path, mode: 0o700 })),
    { kind: "make-directory", path: dirname(paths.service), mode: 0o755 },
    { kind: "write", path: paths.service, text: renderService(target), mode: UNIT_MODE },
    ...(socket === null ? removeSocket(paths) : [writeFile(paths.socket, socket)]),
    ...sandboxSteps(target, paths, home),
    systemctl("daemon-reload"),
    ...(socket !== null && isInTheWay(socket, paths, now) ? [systemctl("stop", SOCKET, SERVICE)] : []),
    resetFailed(units),
    { ...systemctl("try-restart", SERVICE), ...(isBehind(paths, now) ? {} : { ifChanged: true }) },
    systemctl("enable", "--now", ...units),
  ];
}

/** One call of systemctl, for this user's own systemd. */
export function systemctl(...words: string[]): Extract<Step, { kind: "run" }> {
  return { kind: "run", argv: ["systemctl", "--user", ...words] };
}

/** What systemctl says of a unit that has not run, or whose file is broken: then there is nothing to stop or to reset. */
export const NOT_LOADED = /not loaded/;

/** Without it, what has failed too often is not started again. */
export function resetFailed(units: readonly string[]): Step {
  return { ...systemctl("reset-failed", ...units), tolerates: NOT_LOADED };
}

/** Takes the sandbox out again, and its directory where nothing of the person's own is in it. */
export function removeSandbox(paths: UnitPaths): Step[] {
  return [
    { kind: "remove", path: paths.sandbox },
    { kind: "remove", path: dirname(paths.sandbox) },
  ];
}

/** systemd gives no other sockets to what runs, and a socket that listens stays at its port. */
function isInTheWay(socket: string, paths: UnitPaths, now: UnitsNow): boolean {
  const isAsItWas = contentOf(paths.socket) === socket && !isOlder(now.startedAt.socket, paths.socket);
  return now.isListening ? !isAsItWas : now.startedAt.service !== null;
}

/** Was an installation begun that did not come to the service's restart? */
function isBehind({ service, sandbox }: UnitPaths, now: UnitsNow): boolean {
  return now.needsReload || [service, sandbox].some((path) => isOlder(now.startedAt.service, path));
}

/** Did something start, and run still, before its file was as it is? */
function isOlder(startedAt: number | null, path: string): boolean {
  const file = statSync(path, { throwIfNoEntry: false });
  return startedAt !== null && file !== undefined && startedAt < file.mtimeMs;
}

/** It is tried also where it is in force: the files that the daemon reads may be others now. */
function sandboxSteps(target: ServiceTarget, paths: UnitPaths, home: string): Step[] {
  if (target.runsKeyCommands || target.blindedSettings.length > 0) return removeSandbox(paths);
  const sandbox = renderSandbox(target);
  return [
    {
      kind: "try",
      what: "the sandbox of sandbox.conf",
      argv: trialCommand(target, renderService(target), sandbox, home),
      exitCodes: TRIAL_EXIT_CODES,
      onSuccess: [
        { kind: "make-directory", path: dirname(paths.sandbox), mode: 0o755 },
        writeFile(paths.sandbox, sandbox),
      ],
      onFailure: removeSandbox(paths),
    },
  ];
}

function refuseMasked([unit]: readonly string[]): void {
  if (unit === undefined) return;
  const unmask = `systemctl --user unmask ${unit}`;
  throw new Failure(`${unit} is masked`, `allow it with: ${unmask}; then: tollkeeper service install`);
}

function removeSocket(paths: UnitPaths): Step[] {
  if (!existsSync(paths.socket)) return [];
  return [
    { ...systemctl("disable", "--now", SOCKET), tolerates: NOT_LOADED },
    { kind: "remove", path: paths.socket },
  ];
}

function writeFile(path: string, text: string): Step {
  return { kind: "write", path, text, mode: UNIT_MODE };
}

function contentOf(path: string): string | null {
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ address }) => address === "::1"),
  );
}
