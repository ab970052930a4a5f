import { existsSync } from "node:fs";
import { Failure } from "../core/failure.ts";
import type { RunProgram } from "./run-program.ts";
import type {
  LogStart,
  Plan,
  ServiceManager,
  ServiceProblem,
  ServiceState,
  ServiceTarget,
  Step,
} from "./service-manager.ts";
import { readDropIns } from "./systemd/drop-ins.ts";
import { findProblems } from "./systemd/find-problems.ts";
import { installSteps, refuseMasked, removeSandboxSteps } from "./systemd/install-steps.ts";
import {
  NOT_LOADED,
  queryEnvironment,
  queryUnitStates,
  resetFailedStep,
  systemctlStep,
  type UnitStates,
} from "./systemd/systemctl.ts";
import { readValues } from "./systemd/unit-syntax.ts";
import { readCommand, readUnit, SERVICE, SOCKET, unitPaths, type UnitPaths } from "./systemd/render-units.ts";

/** The user whose service is managed. Home and the directory of this user's own units are absolute. */
interface SystemdOptions {
  uid: number;
  userName: string;
  home: string;
  unitDirectory: string;
  run: RunProgram;
}

const COMMANDS_NOTES = [
  "a command prints a key (keySource) and may write to your home directory, so sandbox.conf is left out",
  "a key command that is set-uid or set-gid (1Password's op), or from a snap, gains no privileges in the service; the unit shows the drop-in that allows them: systemctl --user edit tollkeeper",
];

const ANY_PORT_NOTE =
  'the daemon chooses a free port ("listen.port" is 0), so there is no socket unit, and connections are refused during a restart';

/** What `systemctl disable` prints for units that neither exist nor are enabled. */
const NO_UNIT_FILE = /not loaded|does not exist/;

/** The service as units of the user's systemd, managed through systemctl, loginctl and journalctl. */
export class Systemd implements ServiceManager {
  readonly name = "systemd";
  readonly #options: SystemdOptions;
  readonly #paths: UnitPaths;

  constructor(options: SystemdOptions) {
    this.#options = options;
    this.#paths = unitPaths(options.unitDirectory);
  }

  async install(target: ServiceTarget): Promise<Plan> {
    const { home, run } = this.#options;
    const states = await queryUnitStates(run);
    const notes = [
      ...(target.runsKeyCommands ? COMMANDS_NOTES : []),
      ...target.sandboxIncompatibleSettings.map(incompatibleNote),
      ...(target.port === 0 ? [ANY_PORT_NOTE] : []),
      ...(await this.#lingerNotes()),
    ];
    return { steps: installSteps(target, this.#paths, states, home), notes };
  }

  async uninstall(): Promise<Plan> {
    const { service, socket } = this.#paths;
    const { isEnabled, isListening, startedAt } = await queryUnitStates(this.#options.run);
    // Units keep running without their files after a manual removal or an interrupted uninstallation.
    const isKnown = isEnabled || isListening || startedAt.service !== null;
    if (this.#existingFiles().length === 0 && !isKnown) return plan([]);
    const units = [SOCKET, SERVICE];
    return plan([
      { ...systemctlStep("stop", ...units), tolerates: NOT_LOADED },
      { ...systemctlStep("disable", ...units), tolerates: NO_UNIT_FILE },
      { kind: "remove", path: service },
      { kind: "remove", path: socket },
      ...removeSandboxSteps(this.#paths),
      systemctlStep("daemon-reload"),
      resetFailedStep(units),
    ]);
  }

  async start(): Promise<Plan> {
    const units = this.#installedUnits();
    if (units.length === 0) {
      throw new Failure("the service is not installed", "type: tollkeeper service install");
    }
    const states = await queryUnitStates(this.#options.run);
    refuseMasked(states.masked);
    if (units.includes(SOCKET) && states.isRunning && !states.isListening) {
      // systemd itself only reports "Job failed", and in the journal "Socket service already active, refusing".
      throw new Failure(
        "the service is running and its socket is not: systemd starts a socket only before its service",
        "restart both with: tollkeeper service install",
      );
    }
    return plan([...reloadSteps(states), resetFailedStep(units), systemctlStep("start", ...units)]);
  }

  /** Stops the socket too. On its own it would start the service again at the next connection. */
  async stop(): Promise<Plan> {
    const units = this.#installedUnits();
    if (units.length === 0) return plan([]);
    const note = "it starts again at the next login, or with: tollkeeper service start";
    return { steps: [{ ...systemctlStep("stop", ...units), tolerates: NOT_LOADED }], notes: [note] };
  }

  /** Leaves the socket running, which queues connections until the service is back. */
  async restart(): Promise<Plan> {
    const states = await queryUnitStates(this.#options.run);
    if (!states.isRunning) return this.start();
    return plan([...reloadSteps(states), resetFailedStep([SERVICE]), systemctlStep("restart", SERVICE)]);
  }

  async state(): Promise<ServiceState> {
    const { service, socket } = this.#paths;
    const [states, outlivesLogin] = await Promise.all([queryUnitStates(this.#options.run), this.#lingers()]);
    const [address = ""] = readValues(readUnit(socket), "ListenStream");
    const port = /:(\d+)$/.exec(address)?.[1];
    return {
      files: this.#existingFiles(),
      isInstalled: existsSync(service),
      isEnabled: states.isEnabled,
      isRunning: states.isRunning,
      hasFailed: states.hasFailed,
      pid: states.pid,
      holdsPort: states.isListening,
      outlivesLogin,
      ...readCommand(this.#paths),
      port: port === undefined ? null : Number(port),
      // The daemon requests the time that it needs (EXTEND_TIMEOUT_USEC).
      drainMs: null,
      detail: states.detail,
    };
  }

  async problems(): Promise<ServiceProblem[]> {
    const { home, run } = this.#options;
    return findProblems({ paths: this.#paths, states: await queryUnitStates(run), home, run });
  }

  async findChanges(pattern: RegExp): Promise<string[]> {
    const { dropIns } = await queryUnitStates(this.#options.run);
    const changes = readDropIns(dropIns, this.#paths).filter(({ text }) => pattern.test(text));
    return changes.map(({ path }) => path);
  }

  environment(): Promise<Record<string, string>> {
    return queryEnvironment(this.#options.run);
  }

  unsetCommand(names: readonly string[]): string[] {
    return [...systemctlStep("unset-environment", ...names).argv];
  }

  async lastLines(count: number, since?: LogStart): Promise<string[]> {
    const { run } = this.#options;
    const from = since === undefined ? [] : await sinceOption(since, run);
    const { stdout } = await run([...journalctlCommand(count), ...from, "--output=cat", "--no-pager"]);
    return stdout.split("\n").filter((line) => line !== "");
  }

  logsCommand({ lines, follow }: { lines: number; follow: boolean }): string[] {
    return [...journalctlCommand(lines), follow ? "--follow" : "--no-pager"];
  }

  #existingFiles(): string[] {
    return Object.values(this.#paths).filter((path) => existsSync(path));
  }

  #installedUnits(): string[] {
    const { service, socket } = this.#paths;
    return [...(existsSync(socket) ? [SOCKET] : []), ...(existsSync(service) ? [SERVICE] : [])];
  }

  /** True when the user's services run without a login; null when loginctl does not say. */
  async #lingers(): Promise<boolean | null> {
    const { uid, run } = this.#options;
    const { stdout } = await run(["loginctl", "show-user", String(uid), "--property=Linger"]);
    const answer = /^Linger=(yes|no)$/m.exec(stdout)?.[1];
    return answer === undefined ? null : answer === "yes";
  }

  async #lingerNotes(): Promise<string[]> {
    const lingers = await this.#lingers();
    if (lingers === null) return [];
    const keychain = "a keychain that your password unlocks stays locked until you log in";
    if (lingers) return [`it starts at boot (linger is on); ${keychain}`];
    const enable = `loginctl enable-linger ${this.#options.userName}`;
    return [
      `it starts when you log in and stops when you log out; to start it at boot: ${enable} (${keychain})`,
    ];
  }
}

/** Has systemd reload its files if it would otherwise start the service from the previous ones. */
function reloadSteps({ needsReload }: UnitStates): Step[] {
  return needsReload ? [systemctlStep("daemon-reload")] : [];
}

function incompatibleNote(setting: string): string {
  return `${setting} is set, and in the sandbox other users cannot be told apart and their processes cannot be seen, so sandbox.conf is left out`;
}

function plan(steps: Step[]): Plan {
  return { steps, notes: [] };
}

/** Returns a command for the newest lines of both units. `--user` would find nothing in a journal that is not on disk. */
function journalctlCommand(lines: number): string[] {
  return ["journalctl", "--quiet", `--user-unit=${SERVICE}`, `--user-unit=${SOCKET}`, `--lines=${lines}`];
}

/**
 * Returns the option for {@link journalctlCommand} that omits older lines; none for a service that was never started. When
 * systemd gives up after several starts, it leaves the inactive state once more, after the last line of the last process.
 */
async function sinceOption(start: LogStart, run: RunProgram): Promise<string[]> {
  if (start !== "last start") return [`--since=@${Math.floor(start / 1000)}`];
  const { stdout } = await run(systemctlStep("show", SERVICE, "--property=ExecMainStartTimestamp").argv);
  const time = /^ExecMainStartTimestamp=(.+)$/m.exec(stdout)?.[1];
  // journalctl accepts the time as systemctl prints it (systemd.time(7), "Parsing timestamps").
  return time === undefined ? [] : [`--since=${time}`];
}
