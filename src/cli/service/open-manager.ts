import { existsSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { findServiceManager } from "../../service/find-manager.ts";
import { runProgram } from "../../service/run-program.ts";
import type { ServiceManager } from "../../service/service-manager.ts";

/** This system's service manager, for this user. Throws a Failure where there is none that answers: what to do instead. */
export function openServiceManager(): Promise<ServiceManager> {
  const { platform, env } = process;
  // On Windows nobody has one.
  const uid = process.getuid?.() ?? -1;
  return findServiceManager(
    { platform, env, uid, userName: userNameOf(uid), home: homedir(), exists: existsSync },
    runProgram,
  );
}

/** As whom this process runs; in a container that may be a number without a name. */
function userNameOf(uid: number): string {
  try {
    return userInfo().username;
  } catch {
    return String(uid);
  }
}
