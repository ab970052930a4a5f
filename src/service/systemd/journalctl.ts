import type { LogStart, RunProgram } from "../service-manager.ts";
import { SERVICE, SOCKET } from "./units.ts";

/** Words of a command that shows the newest lines of both units. Not `--user`, which finds nothing where the journal is not kept on disk. */
export function journalctl(lines: number): string[] {
  return ["journalctl", "--quiet", `--user-unit=${SERVICE}`, `--user-unit=${SOCKET}`, `--lines=${lines}`];
}

/** The words for {@link journalctl} that leave out what is older; none for a service that never was started. */
export async function sinceWords(start: LogStart, run: RunProgram): Promise<string[]> {
  if (start !== "last start") return [`--since=@${Math.floor(start / 1000)}`];
  const { stdout } = await run(["systemctl", "--user", "show", SERVICE, "--property=InactiveExitTimestamp"]);
  const time = /^InactiveExitTimestamp=(.+)$/m.exec(stdout)?.[1];
  // journalctl takes it as systemctl writes it (systemd.time(7), "Parsing timestamps").
  return time === undefined ? [] : [`--since=${time}`];
}
