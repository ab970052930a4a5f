import { existsSync, readFileSync } from "node:fs";
import { Failure } from "../core/failure.ts";
import { readCommandWords } from "./command-words.ts";
import type {
  LogStart,
  Plan,
  RunProgram,
  ServiceManager,
  ServiceState,
  ServiceTarget,
  Step,
} from "./service-manager.ts";
import { installSteps, NOT_LOADED, removeSandbox, resetFailed, systemctl } from "./systemd/install.ts";
import { journalctl, sinceWords } from "./systemd/journalctl.ts";
import { valuesOf } from "./systemd/unit-file.ts";
import { askUnits } from "./systemd/units-now.ts";
import { SERVICE, SOCKET, unitPaths, type UnitPaths } from "./systemd/units.ts";
import { readCommandLine } from "./systemd/exec-quoting.ts";

/** Whose service it is. */
export interface SystemdOwner {
  uid: number;
  userName: string;
  /** Home directory, absolute. */
  home: string;
  /** Where this user's own units are. */
  unitDirectory: string;
  run: RunProgram;
}

const COMMANDS_NOTES = [
  "a command prints a key (keySource), and may want to write to your home directory: sandbox.conf is left out",
  "a key command that is set-id (1Password's op), or from a snap, has no rights of its own in the service; what gives them back is shown by: systemctl --user edit tollkeeper",
];

const ANY_PORT_NOTE =
  'the configuration takes any free port ("listen.port" is 0): there is no socket unit, and a restart refuses connections';

/** The service as a unit of the user's own systemd, which is reached through its programs. */
export class Systemd implements ServiceManager {
  readonly name = "systemd";
  readonly #owner: SystemdOwner;
  readonly #paths: UnitPaths;

  constructor(owner: SystemdOwner) {
    this.#owner = owner;
    this.#paths = unitPaths(owner.unitDirectory);
  }

  async install(target: ServiceTarget): Promise<Plan> {
    const { home, run } = this.#owner;
    const now = await askUnits(run);
    const notes = [
      ...(target.runsKeyCommands ? COMMANDS_NOTES : []),
      ...target.blindedSettings.map(blindNote),
      ...(target.port === 0 ? [ANY_PORT_NOTE] : []),
      ...(await this.#lingerNotes()),
    ];
    return { steps: installSteps({ target, paths: this.#paths, now, home }), notes };
  }

  async uninstall(): Promise<Plan> {
    const { service, socket } = this.#paths;
    const { isEnabled, isListening, startedAt } = await askUnits(this.#owner.run);
    // What somebody has removed by hand, or an uninstallation that was broken off, may run on without its files.
    const isKnown = isEnabled || isListening || startedAt.service !== null;
    if (this.#files().length === 0 && !isKnown) return plan([]);
    const units = [SOCKET, SERVICE];
    return plan([
      { ...systemctl("stop", ...units), tolerates: NOT_LOADED },
      { ...systemctl("disable", ...units), tolerates: NO_UNIT_FILE },
      { kind: "remove", path: service },
      { kind: "remove", path: socket },
      ...removeSandbox(this.#paths),
      systemctl("daemon-reload"),
      resetFailed(units),
    ]);
  }

  async start(): Promise<Plan> {
    const units = this.#installedUnits();
    if (units.length === 0) {
      throw new Failure("the service is not installed", "type: tollkeeper service install");
    }
    const { isRunning, isListening } = await askUnits(this.#owner.run);
    if (units.includes(SOCKET) && isRunning && !isListening) throw socketIsLate();
    return plan([resetFailed(units), systemctl("start", ...units)]);
  }

  /** The socket, too: with it alone the next connection would start the service again. */
  async stop(): Promise<Plan> {
    const units = this.#installedUnits();
    if (units.length === 0) return plan([]);
    const note = "it starts again at the next login, or with: tollkeeper service start";
    return { steps: [{ ...systemctl("stop", ...units), tolerates: NOT_LOADED }], notes: [note] };
  }

  /** The socket stays, and with it the connections that come meanwhile. */
  async restart(): Promise<Plan> {
    const { isRunning } = await askUnits(this.#owner.run);
    return isRunning ? plan([resetFailed([SERVICE]), systemctl("restart", SERVICE)]) : this.start();
  }

  async state(): Promise<ServiceState> {
    const [now, outlivesLogin] = await Promise.all([askUnits(this.#owner.run), this.#lingers()]);
    return {
      files: this.#files(),
      isInstalled: existsSync(this.#paths.service),
      isEnabled: now.isEnabled,
      isRunning: now.isRunning,
      hasFailed: now.hasFailed,
      pid: now.pid,
      holdsPort: now.isListening,
      outlivesLogin,
      ...readCommandWords(commandIn(contentOf(this.#paths.service))),
      port: portIn(contentOf(this.#paths.socket)),
      // The daemon itself asks for the time that it needs (EXTEND_TIMEOUT_USEC).
      drainMs: null,
      detail: now.detail,
    };
  }

  async lastLines(count: number, since?: LogStart): Promise<string[]> {
    const { run } = this.#owner;
    const from = since === undefined ? [] : await sinceWords(since, run);
    const { stdout } = await run([...journalctl(count), ...from, "--output=cat", "--no-pager"]);
    return stdout.split("\n").filter((line) => line !== "");
  }

  logsCommand({ lines, follow }: { lines: number; follow: boolean }): string[] {
    return [...journalctl(lines), follow ? "--follow" : "--no-pager"];
  }

  /** Those that are there. */
  #files(): string[] {
    return Object.values(this.#paths).filter((path) => existsSync(path));
  }

  #installedUnits(): string[] {
    const { service, socket } = this.#paths;
    return [...(existsSync(socket) ? [SOCKET] : []), ...(existsSync(service) ? [SERVICE] : [])];
  }

  /** Are this user's services there without a login? null where no login manager tells. */
  async #lingers(): Promise<boolean | null> {
    const { uid, run } = this.#owner;
    const { stdout } = await run(["loginctl", "show-user", String(uid), "--property=Linger"]);
    const answer = /^Linger=(yes|no)$/m.exec(stdout)?.[1];
    return answer === undefined ? null : answer === "yes";
  }

  async #lingerNotes(): Promise<string[]> {
    const lingers = await this.#lingers();
    if (lingers === null) return [];
    const keychain = "a keychain that your password opens stays locked until you log in";
    if (lingers) return [`it starts with the machine (linger is on); ${keychain}`];
    const enable = `loginctl enable-linger ${this.#owner.userName}`;
    return [
      `it starts when you log in and ends when you log out; to have it from the machine's start on: ${enable} (${keychain})`,
    ];
  }
}

/** What `systemctl disable` says of units that are neither there nor enabled. */
const NO_UNIT_FILE = /not loaded|does not exist/;

/** systemd would say no more than "Job failed", and to the journal "Socket service already active, refusing". */
function socketIsLate(): Failure {
  return new Failure(
    "the service runs, and its socket does not: systemd starts a socket only before its service",
    "have both stopped and started anew with: tollkeeper service install",
  );
}

function blindNote(setting: string): string {
  return `${setting} is set, and from within a user namespace other users are not told apart, nor others' processes seen: sandbox.conf is left out`;
}

function plan(steps: Step[]): Plan {
  return { steps, notes: [] };
}

function contentOf(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

function commandIn(service: string): string[] {
  const [command] = valuesOf(service, "ExecStart");
  return command === undefined ? [] : readCommandLine(command);
}

function portIn(socket: string): number | null {
  const [address = ""] = valuesOf(socket, "ListenStream");
  const port = /:(\d+)$/.exec(address)?.[1];
  return port === undefined ? null : Number(port);
}
