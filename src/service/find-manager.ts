import { Failure } from "../core/failure.ts";
import { Launchd } from "./launchd.ts";
import type { RunProgram, ServiceManager } from "./service-manager.ts";
import { askUnitDirectory, type Session } from "./systemd/unit-directory.ts";
import { Systemd } from "./systemd.ts";

/** What decides which service manager there is. */
export interface HostInfo extends Session {
  platform: NodeJS.Platform;
  /** Home directory, absolute. */
  home: string;
}

/**
 * The service manager of this system, for this user.
 * @throws Failure where there is none, or none that answers: what to use or to type instead
 */
export async function findServiceManager(here: HostInfo, run: RunProgram): Promise<ServiceManager> {
  const { platform, uid, userName, home } = here;
  if (platform === "darwin") return new Launchd({ uid, home, run });
  const unitDirectory = platform === "linux" ? await askUnitDirectory(here, run) : null;
  if (unitDirectory === null) throw nothingHere(here);
  return new Systemd({ uid, userName, home, unitDirectory, run });
}

const IN_FOREGROUND = "tollkeeper serve";

function nothingHere({ platform, env, exists }: HostInfo): Failure {
  if (platform === "win32") {
    return new Failure(
      "tollkeeper cannot install itself as a service on Windows",
      `let Task Scheduler run this at log on: ${IN_FOREGROUND}`,
    );
  }
  if (env["WSL_DISTRO_NAME"] !== undefined) {
    return new Failure(
      "this WSL runs without systemd",
      `write "systemd=true" below "[boot]" in /etc/wsl.conf, then, in Windows: wsl --shutdown; or run: ${IN_FOREGROUND}`,
    );
  }
  if (["/.dockerenv", "/run/.containerenv"].some(exists)) {
    return new Failure(
      "no systemd runs in this container",
      `make this the container's command: ${IN_FOREGROUND}`,
    );
  }
  return new Failure(
    "no systemd runs on this system",
    `let its own service manager (OpenRC, runit, s6, a tmux session) run, as you: ${IN_FOREGROUND}`,
  );
}
