import { existsSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { Failure } from "../core/failure.ts";
import type { HostInfo } from "../core/host-info.ts";
import { Launchd } from "./launchd.ts";
import { runProgram } from "./run-program.ts";
import type { RunProgram, ServiceManager } from "./service-manager.ts";
import { findUnitDirectory, type UserSession } from "./systemd/unit-directory.ts";
import { Systemd } from "./systemd.ts";

/** What decides which service manager is used. */
export type ServiceHost = HostInfo & UserSession;

/**
 * Returns the service manager of this system for the user who runs this process.
 * @throws Failure when there is none, or when it does not respond; its hint says what to use or type instead
 */
export async function findServiceManager(
  host: ServiceHost = thisHost(),
  run: RunProgram = runProgram,
): Promise<ServiceManager> {
  const { platform, uid, userName, home } = host;
  if (platform === "darwin") return new Launchd({ uid, home, run });
  const unitDirectory = platform === "linux" ? await findUnitDirectory(host, run) : null;
  if (unitDirectory === null) throw noServiceManager(host);
  return new Systemd({ uid, userName, home, unitDirectory, run });
}

function thisHost(): ServiceHost {
  const { platform, env } = process;
  // Windows has no user ids.
  const uid = process.getuid?.() ?? -1;
  return { platform, env, uid, userName: currentUserName(uid), home: homedir(), exists: existsSync };
}

/** Returns the id itself when it has no name, as happens in containers. */
function currentUserName(uid: number): string {
  try {
    return userInfo().username;
  } catch {
    return String(uid);
  }
}

const FOREGROUND_COMMAND = "tollkeeper serve";

function noServiceManager({ platform, env, exists }: ServiceHost): Failure {
  if (platform === "win32") {
    return new Failure(
      "tollkeeper cannot install itself as a service on Windows",
      `let Task Scheduler run this at log on: ${FOREGROUND_COMMAND}`,
    );
  }
  if (env["WSL_DISTRO_NAME"] !== undefined) {
    return new Failure(
      "this WSL runs without systemd",
      `write "systemd=true" below "[boot]" in /etc/wsl.conf, then, in Windows: wsl --shutdown; or run: ${FOREGROUND_COMMAND}`,
    );
  }
  if (["/.dockerenv", "/run/.containerenv"].some(exists)) {
    return new Failure(
      "no systemd runs in this container",
      `make this the container's command: ${FOREGROUND_COMMAND}`,
    );
  }
  return new Failure(
    "no systemd runs on this system",
    `let its own service manager (OpenRC, runit, s6, a tmux session) run, as you: ${FOREGROUND_COMMAND}`,
  );
}
