import { Failure } from "../core/failure.ts";
import { formatCommand } from "../core/text/shell-words.ts";
import { findMisnamedConfig } from "../daemon/named-config.ts";
import { askRunning } from "../daemon/running-daemon.ts";
import { attempt } from "./attempt.ts";
import { resolveConfigPath } from "./load-config.ts";
import { note, noteHint } from "./terminal/console.ts";

/** A note is not worth a longer wait. */
const LIMIT_MS = 1_000;

/**
 * Says on standard error that the running daemon uses another configuration file than this command, whose answer is then not about that
 * daemon. Says nothing when no daemon runs.
 * @param named from the command line; undefined for the usual file
 */
export async function noteOtherConfig(named: string | undefined): Promise<void> {
  const path = resolveConfigPath(named);
  const { value: status } = await attempt(Failure, () => askRunning("status", {}, LIMIT_MS));
  if (status === null || status.config.path === path) return;
  const option = formatCommand(["--config", status.config.path]);
  note(`note: this is about ${path}, but the running daemon uses another file; to use that, add: ${option}`);
}

/** Says on standard error that a file which was meant as the configuration has a name that is not read, and how to rename it. */
export function noteMisnamedConfig(path: string): void {
  const misnamed = findMisnamedConfig(path);
  if (misnamed === null) return;
  note(`warning: ${misnamed.message}`);
  if (misnamed.hint !== undefined) noteHint(misnamed.hint);
}
