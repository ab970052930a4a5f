import fs from "node:fs";
import { join } from "node:path";
import { redactSecrets } from "../../core/secrets/redact-text.ts";
import { removeBlocks } from "../formats/shell.ts";
import type { FilePlan } from "./file-plan.ts";
import { digestPath, fileStemFor, writeStateFile } from "./journal.ts";
import type { Backup, ConnectionId, Journal } from "./journal.ts";

/** The backup of a file that has been disconnected. */
export interface KeptBackup {
  path: string;
  /** Path of the backup. */
  backup: string;
  /** True when keys in the backup were redacted. */
  isRedacted: boolean;
}

/** Saves the original file with its secrets redacted; null when there was no file. @throws Failure */
export function saveBackup(
  directory: string,
  id: ConnectionId,
  { original, change }: FilePlan,
): Backup | null {
  if (original === null) return null;
  const redacted = redactSecrets(original, change.secrets);
  const name = freeName(directory, `${fileStemFor(id)}.${digestPath(change.path)}`, redacted);
  writeStateFile(directory, name, Buffer.from(redacted));
  return { name, isBlotted: redacted !== original };
}

/** A backup that an earlier connection left may be the only copy of what the file was at first, so it is never written over. */
function freeName(directory: string, stem: string, text: string): string {
  for (let number = 1; ; number += 1) {
    const name = `${stem}${number === 1 ? "" : `.${number}`}.backup`;
    const path = join(directory, name);
    if (!fs.existsSync(path) || fs.readFileSync(path, "utf8") === text) return name;
  }
}

/** Removes the backups of fully restored files, and returns the others, which the user may want to compare. */
export function removeRestoredBackups(directory: string, plans: readonly FilePlan[]): KeptBackup[] {
  return plans.flatMap((plan) => {
    const backup = plan.record?.backup ?? null;
    if (backup === null) return [];
    const path = join(directory, backup.name);
    if (fs.existsSync(path) && !isRestored(plan, backup, path)) {
      return [{ path: plan.change.path, backup: path, isRedacted: backup.isBlotted }];
    }
    fs.rmSync(path, { force: true });
    return [];
  });
}

/** Removes the backups in a journal that its predecessor does not have. */
export function removeNewBackups(directory: string, { files }: Journal, former: Journal | null): void {
  const known = new Set(former?.files.map(({ backup }) => backup?.name));
  for (const { backup } of files) {
    if (backup !== null && !known.has(backup.name)) fs.rmSync(join(directory, backup.name), { force: true });
  }
}

/** True when the file equals its backup. In a shell's start-up file the blocks of other tools do not count. */
function isRestored({ change, record }: FilePlan, { isBlotted }: Backup, path: string): boolean {
  const after = change.after ?? "";
  const texts = [isBlotted ? redactSecrets(after, change.secrets) : after, fs.readFileSync(path, "utf8")];
  const isShell = record?.undo.format === "sh" || record?.undo.format === "fish";
  const [one, other] = isShell ? texts.map((text) => removeBlocks(text).trimEnd()) : texts;
  return one === other;
}
