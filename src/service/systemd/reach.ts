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
  const directory = unitDirectoryIn(answer.stdout);
  if (directory === null) throw unreachable(session, answer);
  return directory;
}

/** Of the directories in systemd's order, the first that is nobody's but the person's (systemd.unit(5), "Unit File Load Path"). */
function unitDirectoryIn(answer: string): string | null {
  const [, list = ""] = /^UnitPath=(.*)$/m.exec(answer) ?? [];
  return list.split(/ (?=\/)/).find((path) => path.endsWith("/systemd/user")) ?? null;
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
      `the systemd of ${userName} cannot be reached: XDG_RUNTIME_DIR is ${given ?? "not set, as after su or sudo -u"}`,
      `log in as ${userName}, or set it with: export XDG_RUNTIME_DIR=${runtime}`,
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
