import { accessSync, constants, existsSync } from "node:fs";
import { hasCode } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { missingProgramProblems } from "../missing-program.ts";
import type { RunProgram } from "../run-program.ts";
import type { ServiceProblem } from "../service-manager.ts";
import { setAside } from "../set-aside.ts";
import { readDropIns, type DropIn } from "./drop-ins.ts";
import { listenAddresses } from "./listen-addresses.ts";
import { readCommand, readUnit, SOCKET, type UnitPaths } from "./render-units.ts";
import { hasSocketDiagnostics } from "./has-sock-diag.ts";
import type { UnitStates } from "./systemctl.ts";
import { readValues } from "./unit-syntax.ts";

const INSTALL = "tollkeeper service install";

/** What the search examines. */
interface Installation {
  paths: UnitPaths;
  states: UnitStates;
  /** The user's home directory. */
  home: string;
  run: RunProgram;
}

/** Returns what is wrong with the units, and with what they refer to. What prevents a start comes first. */
export async function findProblems(installation: Installation): Promise<ServiceProblem[]> {
  const { paths, states } = installation;
  if (states.masked.length > 0) return [maskedProblem(states.masked)];
  if (!existsSync(paths.service)) return [];
  const problems = [
    ...missingProgramProblems(readCommand(paths)),
    ...(await definitionProblems(installation)),
    ...credentialProblems(installation),
    ...socketProblems(installation),
    ...diagnosticsProblems(installation),
  ];
  return problems.toSorted((one, other) => Number(other.preventsStart) - Number(one.preventsStart));
}

/** Returns the problem of masked units (`systemctl mask`). Their files are links, which an installation must not replace. */
export function maskedProblem(units: readonly string[]): ServiceProblem {
  const unmask = formatCommand(["systemctl", "--user", "unmask", ...units]);
  const message = `${units.join(" and ")} ${units.length === 1 ? "is" : "are"} masked`;
  return { message, fix: `unmask it with: ${unmask}; then: ${INSTALL}`, preventsStart: true };
}

/** `FILE:LINE: what is wrong`, as systemd prints it for an assignment that it ignores. */
const LINE_PROBLEM = /^(\/.+):\d+: .+$/;

/** `UNIT: what is wrong`, for a unit that cannot be loaded or started. */
const UNIT_PROBLEM = /^tollkeeper\.(?:service|socket): (.+)$/;

/** The parts of a message that also occur in the file at fault: settings, paths, and names of other units. */
const TRACES = /\b\w+(?==)|\/[^\s:]+|\b[\w@-]+\.(?:service|socket|target|mount)\b/g;

/** Has systemd check the files as they are now, which it may not have loaded yet. Finds nothing if it cannot. */
async function definitionProblems({ paths, states, run }: Installation): Promise<ServiceProblem[]> {
  const units = [paths.service, paths.socket].filter((path) => existsSync(path));
  const { code, stderr } = await run(["systemd-analyze", "--user", "verify", ...units]);
  const lines = stderr.split("\n");
  const changes = readDropIns(states.dropIns, paths);
  const next = nextCommand(states);
  const ignored = lines.filter((line) => changes.some(({ path }) => LINE_PROBLEM.exec(line)?.[1] === path));
  const refused = code === 0 ? [] : lines.flatMap((line) => UNIT_PROBLEM.exec(line)?.[1] ?? []);
  return [
    ...refused.flatMap((message) => refusalProblem(message, changes, paths, next)),
    ...ignored.map((message): ServiceProblem => {
      const path = LINE_PROBLEM.exec(message)?.[1] ?? "";
      return { message, fix: setAside([path], next), preventsStart: false };
    }),
  ];
}

/** Without a drop-in that could be at fault, our own unit is, unless only the program that it names is gone. */
function refusalProblem(
  message: string,
  changes: readonly DropIn[],
  paths: UnitPaths,
  next: string,
): ServiceProblem[] {
  const traces = message.match(TRACES)?.filter((trace) => !trace.startsWith("tollkeeper.")) ?? [];
  const culprits = changes.filter(({ text }) => traces.some((trace) => text.includes(trace)));
  const files = culprits.map(({ path }) => path);
  if (files.length > 0) {
    const what = `${files.join(" and ")}: ${message}`;
    return [{ message: what, fix: setAside(files, next), preventsStart: true }];
  }
  if (/ is not executable/.test(message)) return [];
  return [{ message: `${paths.service}: ${message}`, fix: INSTALL, preventsStart: true }];
}

/** systemd does not start a service when a file of `LoadCredential=` is missing. */
function credentialProblems({ paths, states, home }: Installation): ServiceProblem[] {
  const files = [
    { path: paths.service, text: readUnit(paths.service) },
    ...readDropIns(states.dropIns, paths),
  ];
  return files.flatMap(({ path, text }) =>
    readValues(text, "LoadCredential").flatMap((value) => {
      const [, name = "", file] = /^([^:]+):(\/.+)$/.exec(value.replaceAll("%h", home)) ?? [];
      const problem = file === undefined ? null : findAccessProblem(file);
      if (file === undefined || problem === null) return [];
      const message = `credential ${name} cannot be read: ${file} ${problem.what} (LoadCredential= in ${path})`;
      return [{ message, fix: `${problem.fix}; then: ${nextCommand(states)}`, preventsStart: true }];
    }),
  );
}

function findAccessProblem(file: string): { what: string; fix: string } | null {
  try {
    accessSync(file, constants.R_OK);
    return null;
  } catch (error) {
    if (!hasCode(error, "EACCES")) return { what: "does not exist", fix: `write the key into ${file}` };
    return {
      what: "cannot be read by you",
      fix: `make it readable: ${formatCommand(["chmod", "u+r", file])}`,
    };
  }
}

/** The daemon runs without its socket, but then a restart refuses connections. */
function socketProblems({ paths, states }: Installation): ServiceProblem[] {
  const addresses = readValues(readUnit(paths.socket), "ListenStream");
  const port = Number(/:(\d+)$/.exec(addresses[0] ?? "")?.[1]);
  if (addresses.length === 0 || Number.isNaN(port)) return [];
  const possible = listenAddresses(port);
  const impossible = addresses.filter(
    (address) => address === `[::1]:${port}` && !possible.includes(address),
  );
  if (impossible.length > 0) {
    const message = `${SOCKET} cannot listen on ${impossible.join(", ")}: IPv6 is disabled on this machine`;
    return [{ message, fix: INSTALL, preventsStart: true }];
  }
  if (states.isRunning && !states.isListening) {
    const message = `${SOCKET} is not active, so the daemon listens itself, and connections are refused during a restart`;
    return [{ message, fix: INSTALL, preventsStart: false }];
  }
  const missing = possible.filter((address) => !addresses.includes(address));
  if (missing.length === 0) return [];
  const message = `${SOCKET} does not listen on ${missing.join(", ")}, where connections are refused during a restart`;
  return [{ message, fix: INSTALL, preventsStart: false }];
}

/** Without the socket, the daemon takes longer to find out who is connecting. */
function diagnosticsProblems({ paths }: Installation): ServiceProblem[] {
  const unit = readUnit(paths.socket);
  const isListed = readValues(unit, "ListenNetlink").length > 0;
  if (unit === "" || isListed === hasSocketDiagnostics()) return [];
  const message = isListed
    ? `${SOCKET} cannot open its netlink socket: this kernel or container has no sock_diag`
    : `${SOCKET} passes no netlink socket to the daemon, so each new connection waits 1 to 10 ms longer`;
  return [{ message, fix: INSTALL, preventsStart: isListed }];
}

/** Also reads changed files again. */
function nextCommand({ isRunning }: UnitStates): string {
  return isRunning ? "tollkeeper service restart" : "tollkeeper service start";
}
