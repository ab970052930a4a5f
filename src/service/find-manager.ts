import { existsSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import { Failure } from "../core/failure.ts";
import { unknownHome, type HostInfo } from "../core/host-info.ts";
import { runProgram, sessionEnvironment, type RunProgram } from "./run-program.ts";
import type { ServiceManager } from "./service-manager.ts";
import { Systemd } from "./systemd.ts";
import { unitPaths } from "./systemd/render-units.ts";
import { findUnitDirectory, type UserSession } from "./systemd/unit-directory.ts";

/** What determines the service manager. */
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
  if (platform === "darwin") {
    // It loads libraries for property lists, which takes 10 ms.
    const { Launchd } = await import("./launchd.ts");
    return new Launchd({ uid, home, run });
  }
  const unitDirectory = platform === "linux" ? await findUnitDirectory(host, run) : null;
  if (unitDirectory === null) throw noServiceManager(host);
  return new Systemd({ uid, userName, home, unitDirectory, run });
}

/**
 * Returns the definition of an installed service whose manager this session does not reach; null when there is none in the
 * usual place.
 */
export function findUnreachedDefinition(host: ServiceHost = thisHost()): string | null {
  const base = host.env["XDG_CONFIG_HOME"] ?? join(host.home, ".config");
  const { service } = unitPaths(join(base, "systemd", "user"));
  return host.exists(service) ? service : null;
}

function thisHost(): ServiceHost {
  // Windows has no user ids.
  const uid = process.getuid?.() ?? -1;
  const [{ platform }, env] = [process, sessionEnvironment()];
  return { platform, env, uid, userName: currentUserName(uid), home: currentHome(uid), exists: existsSync };
}

function currentHome(uid: number): string {
  try {
    const home = homedir();
    return isAbsolute(home) ? home : userInfo().homedir;
  } catch (error) {
    throw unknownHome(uid, error);
  }
}

/** Returns the id when the user has no name, as in some containers. */
function currentUserName(uid: number): string {
  try {
    return userInfo().username;
  } catch {
    return String(uid);
  }
}

function noServiceManager({ platform, env, exists }: ServiceHost): Failure {
  if (platform === "win32") {
    const hint = "have Task Scheduler run this at logon: tollkeeper serve";
    return new Failure("tollkeeper cannot install itself as a service on Windows", hint);
  }
  if (env["WSL_DISTRO_NAME"] !== undefined) {
    const hint = `add "systemd=true" below "[boot]" in /etc/wsl.conf, then type in Windows: wsl --shutdown; or run without a service: tollkeeper serve`;
    return new Failure("this WSL runs without systemd", hint);
  }
  if (["/.dockerenv", "/run/.containerenv"].some(exists)) {
    const hint = "start it with: tollkeeper serve; or make this the container's command: tollkeeper serve";
    return new Failure("systemd is not running in this container", hint);
  }
  const hint =
    "have its own service manager (OpenRC, runit, s6, a tmux session) run this as your user: tollkeeper serve";
  return new Failure("systemd is not running on this system", hint);
}
