import { existsSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { findServiceManager } from "../service/find-manager.ts";
import { runProgram } from "../service/run-program.ts";
import type { ServiceManager } from "../service/service-manager.ts";

/** This system's service manager, for this user. Throws a Failure where there is none that answers: what to do instead. */
export function openServiceManager(): Promise<ServiceManager> {
  const { uid, username: userName } = userInfo();
  const { platform, env } = process;
  return findServiceManager(
    { platform, env, uid, userName, home: homedir(), exists: existsSync },
    runProgram,
  );
}
