import { existsSync, readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { dirname } from "node:path";
import type { ServiceTarget, Step } from "../service-manager.ts";
import { trialCommand } from "./trial.ts";
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

/** What must be done so that the units are there, enabled and started as `target` says. */
export function installSteps({ target, paths, now, home }: Installation): Step[] {
  const socket = target.port === 0 ? null : renderSocket(target.port, hasIpv6());
  const isSocketAsItWas = now.isListening && socket !== null && contentOf(paths.socket) === socket;
  const units = [...(socket === null ? [] : [SOCKET]), SERVICE];
  return [
    ...target.writable.map((path): Step => ({ kind: "make-directory", path, mode: 0o700 })),
    { kind: "make-directory", path: dirname(paths.service), mode: 0o755 },
    { kind: "write", path: paths.service, text: renderService(target), mode: UNIT_MODE },
    ...(socket === null ? removeSocket(paths) : [writeFile(paths.socket, socket)]),
    ...sandboxSteps({ target, paths, now, home }),
    systemctl("daemon-reload"),
    // systemd gives no other sockets to a process that runs.
    ...(now.isRunning && socket !== null && !isSocketAsItWas ? [systemctl("stop", SOCKET, SERVICE)] : []),
    { ...systemctl("try-restart", SERVICE), ifChanged: true },
    resetFailed(units),
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

/** What is in force and works needs no trial. */
function sandboxSteps({ target, paths, now, home }: Installation): Step[] {
  if (target.runsKeyCommands) return removeSandbox(paths);
  const sandbox = renderSandbox(target);
  const steps = [
    { kind: "make-directory", path: dirname(paths.sandbox), mode: 0o755 } as const,
    writeFile(paths.sandbox, sandbox),
  ];
  if (now.isRunning && contentOf(paths.sandbox) === sandbox) return steps;
  return [
    {
      kind: "try",
      what: "the sandbox of sandbox.conf",
      argv: trialCommand(target, renderService(target), sandbox, home),
      onSuccess: steps,
      onFailure: removeSandbox(paths),
    },
  ];
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
