import { resolve } from "node:path";
import { Failure } from "../../core/failure.ts";
import type { ProgramResult, RunProgram } from "../service-manager.ts";

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
 * @throws Failure when systemd cannot be reached from this session, with what to type so that it can
 */
export async function findUnitDirectory(session: UserSession, run: RunProgram): Promise<string | null> {
  refuseSudo(session);
  const result = await run(["systemctl", "--user", "show", "--property=UnitPath"]);
  // /run/systemd/system exists where systemd is the init system (sd_booted(3)).
  if (result.code === 127 || (result.code !== 0 && !session.exists("/run/systemd/system"))) return null;
  if (result.code !== 0) throw unreachable(session, result);
  const paths = parseUnitPath(result.stdout);
  // The first such directory in systemd's search order is the user's own.
  const directory = paths.find((path) => path.endsWith("/systemd/user"));
  if (directory === undefined) {
    throw new Failure(
      "systemctl answers, and not as systemd does: it may be a script that stands in for it",
      "let what starts your services run, as you: tollkeeper serve",
    );
  }
  refuseOtherRuntime(session, paths);
  return directory;
}

/** Returns the directories that systemd searches for a user's units (systemd.unit(5), "Unit File Load Path"). */
function parseUnitPath(printed: string): string[] {
  const [, list = ""] = /^UnitPath=(.*)$/m.exec(printed) ?? [];
  return list.split(/ (?=\/)/);
}

/** Requires the service's XDG_RUNTIME_DIR, since with another one this session would not find the control socket. */
function refuseOtherRuntime({ env }: UserSession, paths: readonly string[]): void {
  const transient = paths.find((path) => path.endsWith("/systemd/transient"));
  if (transient === undefined) return;
  const given = env["XDG_RUNTIME_DIR"];
  const runtime = resolve(transient, "../..");
  if (given !== undefined && resolve(given) === runtime) return;
  throw new Failure(
    `the service has another XDG_RUNTIME_DIR than this session, where it is ${given ?? UNSET}`,
    setRuntime(runtime),
  );
}

const UNSET = "not set, as after su or sudo -u";

function setRuntime(runtime: string): string {
  return `set it with: export XDG_RUNTIME_DIR=${runtime}`;
}

function refuseSudo({ uid, env }: UserSession): void {
  if (uid !== 0 || env["SUDO_USER"] === undefined) return;
  throw new Failure("this is root, by sudo, and the service is a user's own", "type it again without sudo");
}

function unreachable({ uid, userName, env, exists }: UserSession, { stderr }: ProgramResult): Failure {
  const runtime = `/run/user/${uid}`;
  const given = env["XDG_RUNTIME_DIR"];
  if (given !== runtime && exists(runtime)) {
    return new Failure(
      `the systemd of ${userName} cannot be reached: XDG_RUNTIME_DIR is ${given ?? UNSET}`,
      `log in as ${userName}, or ${setRuntime(runtime)}`,
    );
  }
  const why = exists(runtime) ? stderr.trim() : `it does not run, because ${userName} has not logged in`;
  const message = `the systemd of ${userName} cannot be reached: ${why}`;
  if (uid === 0) return new Failure(message, "type it as the user whose tools are to use it");
  return new Failure(
    message,
    `log in as ${userName}, by ssh or with: sudo machinectl shell ${userName}@; to have it run without that: sudo loginctl enable-linger ${userName}`,
  );
}
