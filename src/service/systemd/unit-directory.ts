import { resolve } from "node:path";
import { Failure } from "../../core/failure.ts";
import type { ProgramResult, RunProgram } from "../run-program.ts";

/** The user and the session that contact systemd. */
export interface UserSession {
  uid: number;
  userName: string;
  env: NodeJS.ProcessEnv;
  exists(path: string): boolean;
}

/**
 * Asks the user's systemd for the directory of the user's own units.
 * @returns null when this system does not run systemd
 * @throws Failure when systemd cannot be reached from this session; its hint says what to type
 */
export async function findUnitDirectory(session: UserSession, run: RunProgram): Promise<string | null> {
  refuseSudo(session);
  const result = await run(["systemctl", "--user", "show", "--property=UnitPath"]);
  // /run/systemd/system exists where systemd is the init system (sd_booted(3)).
  if (result.code === 127 || (result.code !== 0 && !session.exists("/run/systemd/system"))) return null;
  if (result.code !== 0) throw unreachable(session, result);
  const [, list = ""] = /^UnitPath=(.*)$/m.exec(result.stdout) ?? [];
  const paths = list.split(/ (?=\/)/);
  // The first such directory in systemd's search order is the user's own (systemd.unit(5), "Unit File Load Path").
  const directory = paths.find((path) => path.endsWith("/systemd/user"));
  if (directory === undefined) {
    throw new Failure(
      "systemctl does not behave like systemd's; it may be a replacement script",
      "have your service manager run this as your user: tollkeeper serve",
    );
  }
  refuseOtherRuntime(session, paths);
  return directory;
}

/** Requires that XDG_RUNTIME_DIR is the service's: otherwise this session would not find the control socket. */
function refuseOtherRuntime({ env }: UserSession, paths: readonly string[]): void {
  const transient = paths.find((path) => path.endsWith("/systemd/transient"));
  if (transient === undefined) return;
  const given = env["XDG_RUNTIME_DIR"];
  const runtime = resolve(transient, "../..");
  if (given !== undefined && resolve(given) === runtime) return;
  const message = `XDG_RUNTIME_DIR of this session differs from the service's: it is ${given ?? UNSET}`;
  throw new Failure(message, `set it with: export XDG_RUNTIME_DIR=${runtime}`);
}

const UNSET = "not set, as after su or sudo -u";

function refuseSudo({ uid, env }: UserSession): void {
  if (uid !== 0 || env["SUDO_USER"] === undefined) return;
  throw new Failure("you are root (sudo), but the service belongs to a user", "type it again without sudo");
}

function unreachable({ uid, userName, env, exists }: UserSession, { stderr }: ProgramResult): Failure {
  const runtime = `/run/user/${uid}`;
  const given = env["XDG_RUNTIME_DIR"];
  const message = `the systemd of ${userName} cannot be reached`;
  if (given !== runtime && exists(runtime)) {
    const hint = `log in as ${userName}, or set it with: export XDG_RUNTIME_DIR=${runtime}`;
    return new Failure(`${message}: XDG_RUNTIME_DIR is ${given ?? UNSET}`, hint);
  }
  const why = exists(runtime) ? stderr.trim() : `it is not running, because ${userName} has not logged in`;
  const hint =
    uid === 0
      ? "type it as the user whose tools will use it"
      : `log in as ${userName}, by ssh or with: sudo machinectl shell ${userName}@; to run it without a login: sudo loginctl enable-linger ${userName}`;
  return new Failure(`${message}: ${why}`, hint);
}
