import type { LogStart, RunProgram } from "../service-manager.ts";
import { SERVICE, SOCKET } from "./units.ts";

/** Returns a command for the newest lines of both units. `--user` would find nothing in a journal that is not on disk. */
export function journalctlCommand(lines: number): string[] {
  return ["journalctl", "--quiet", `--user-unit=${SERVICE}`, `--user-unit=${SOCKET}`, `--lines=${lines}`];
}

/** Returns the option for {@link journalctlCommand} that omits older lines; none for a service that was never started. */
export async function sinceOption(start: LogStart, run: RunProgram): Promise<string[]> {
  if (start !== "last start") return [`--since=@${Math.floor(start / 1000)}`];
  const { stdout } = await run(["systemctl", "--user", "show", SERVICE, "--property=InactiveExitTimestamp"]);
  const time = /^InactiveExitTimestamp=(.+)$/m.exec(stdout)?.[1];
  // journalctl accepts the time as systemctl prints it (systemd.time(7), "Parsing timestamps").
  return time === undefined ? [] : [`--since=${time}`];
}
