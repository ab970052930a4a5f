import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fakePrograms } from "../process/fake-programs.ts";
import { scratchDirectory } from "../process/scratch-directory.ts";

/** A launchd whose one service is a real process, as far as `service` commands see it through launchctl. */
interface FakeLaunchd {
  /** To be put first on PATH. */
  directory: string;
  /** Returns the commands that change something, in order, e.g. `kill SIGTERM`. */
  commands(): string[];
}

/** Makes a command believe that it runs on macOS. To be put into NODE_OPTIONS. */
export const ON_MACOS = `--import=data:text/javascript,Object.defineProperty(process,'platform',{value:'darwin'})`;

/**
 * Creates a launchctl that starts `command` as the service, with the caller's environment but for NODE_OPTIONS, and kills it with
 * the test. Its output has the lines that are read, as public reports show them; none of it was recorded here.
 */
export function createFakeLaunchd(t: TestContext, command: readonly string[]): FakeLaunchd {
  let pidFile = "";
  // Before the directory is removed, which happens in the order of registration.
  t.after(() => {
    if (existsSync(pidFile)) killIfAlive(Number(readFileSync(pidFile, "utf8")));
  });
  const state = join(scratchDirectory(t), "launchd");
  mkdirSync(state);
  const loaded = join(state, "loaded");
  pidFile = join(state, "pid");
  const words = command.map((word) => `'${word}'`).join(" ");
  const isAlive = `kill -0 "$(cat ${pidFile} 2>/dev/null)" 2>/dev/null`;
  const start = `touch ${loaded}; env -u NODE_OPTIONS ${words} >/dev/null 2>&1 & echo $! >${pidFile}`;
  const notLoaded = `[ -e ${loaded} ] || { echo 'Could not find service "tollkeeper"' >&2; exit 113; }`;
  const shown = `if ${isAlive}; then printf '\\tstate = running\\n\\tpid = %s\\n' "$(cat ${pidFile})"; else printf '\\tstate = not running\\n'; fi`;
  const { directory, calls } = fakePrograms(t, {
    launchctl: [
      { match: "print-disabled *", stdout: "disabled services = {\n}\n" },
      { match: "print */tollkeeper", does: `${notLoaded}; echo "$2 = {"; ${shown}; echo "}"` },
      { match: "bootstrap *", does: start },
      { match: "bootout *", does: `rm ${loaded}; kill -TERM "$(cat ${pidFile})"` },
      { match: "kill SIGTERM *", does: `kill -TERM "$(cat ${pidFile})"` },
      { match: "kickstart -k *", does: `kill -KILL "$(cat ${pidFile})" 2>/dev/null; ${start}` },
      { match: "kickstart *", does: start },
    ],
  });
  return {
    directory,
    commands: () =>
      calls()
        .filter(([, verb = ""]) => !verb.startsWith("print"))
        .map(([, ...args]) => args.slice(0, 2).join(" ")),
  };
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has already ended.
  }
}
