import { resolve } from "node:path";
import { Failure } from "../../core/failure.ts";
import type { ProgramResult, RunProgram } from "../service-manager.ts";

/** The person and the session from which systemd is to be reached. */
export interface Session {
  uid: number;
  userName: string;
  env: NodeJS.ProcessEnv;
  exists(path: string): boolean;
}

/**
 * Asks the user's own systemd where this user's units belong.
 * @returns null when there is no systemd here at all
 * @throws Failure when there is one that does not answer, with what to type so that it does
 */
export async function askUnitDirectory(session: Session, run: RunProgram): Promise<string | null> {
  refuseSudo(session);
  const answer = await run(["systemctl", "--user", "show", "--property=UnitPath"]);
  // sd_booted(3)
  if (answer.code === 127 || (answer.code !== 0 && !session.exists("/run/systemd/system"))) return null;
  if (answer.code !== 0) throw unreachable(session, answer);
  const paths = unitPathIn(answer.stdout);
  // In systemd's order, the first that is nobody's but the person's.
  const directory = paths.find((path) => path.endsWith("/systemd/user"));
  if (directory === undefined) throw notSystemd();
  refuseOtherRuntime(session, paths);
  return directory;
}

/** The directories in which systemd looks for a user's units (systemd.unit(5), "Unit File Load Path"). */
function unitPathIn(answer: string): string[] {
  const [, list = ""] = /^UnitPath=(.*)$/m.exec(answer) ?? [];
  return list.split(/ (?=\/)/);
}

/** Where it is not the same here and there, the daemon's control socket is not found, and it seems not to answer. */
function refuseOtherRuntime({ env }: Session, paths: readonly string[]): void {
  const transient = paths.find((path) => path.endsWith("/systemd/transient"));
  if (transient === undefined) return;
  const [given, runtime] = [env["XDG_RUNTIME_DIR"], resolve(transient, "../..")];
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

function notSystemd(): Failure {
  return new Failure(
    "systemctl answers, and not as systemd does: it may be a script that stands in for it",
    "let what starts your services run, as you: tollkeeper serve",
  );
}

function refuseSudo({ uid, env }: Session): void {
  const caller = env["SUDO_USER"];
  if (uid !== 0 || caller === undefined) return;
  throw new Failure("this is root, by sudo, and the service is a user's own", "type it again without sudo");
}

function unreachable({ uid, userName, env, exists }: Session, { stderr }: ProgramResult): Failure {
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
