import fs from "node:fs";
import { join } from "node:path";
import { redactSecrets } from "../../core/secrets/redact.ts";
import type { Identity, KeptBackup } from "../connection.ts";
import type { FilePlan } from "../edit/file-plan.ts";
import { withoutBlocks } from "../formats/shell.ts";
import { digestOf, nameOf, writeBeside, type Backup, type Journal } from "./journal.ts";

/** Keeps a file as it was, for people, with what is secret in it blotted; null where there was none. */
export function keepBackup(
  directory: string,
  identity: Identity,
  { original, change }: FilePlan,
): Backup | null {
  if (original === null) return null;
  const name = `${nameOf(identity)}.${digestOf(change.path)}.backup`;
  const blotted = redactSecrets(original, change.secrets);
  writeBeside(directory, name, Buffer.from(blotted));
  return { name, isBlotted: blotted !== original };
}

/** Removes the copies of files which are as they were again. @returns the others, which somebody may want to compare */
export function dropBackups(directory: string, plans: readonly FilePlan[]): KeptBackup[] {
  return plans.flatMap((plan) => {
    const backup = plan.record?.backup ?? null;
    if (backup === null) return [];
    const path = join(directory, backup.name);
    if (fs.existsSync(path) && !isAsKept(plan, backup, path)) {
      return [{ path: plan.change.path, backup: path, isBlotted: backup.isBlotted }];
    }
    fs.rmSync(path, { force: true });
    return [];
  });
}

/** Removes the copies that were made for a journal and that the one before it does not have. */
export function forgetBackups(directory: string, { files }: Journal, former: Journal | null): void {
  const known = new Set(former?.files.map(({ backup }) => backup?.name));
  for (const { backup } of files) {
    if (backup !== null && !known.has(backup.name)) fs.rmSync(join(directory, backup.name), { force: true });
  }
}

/** The blocks of other tools come and go by themselves. */
function isAsKept({ change, record }: FilePlan, { isBlotted }: Backup, path: string): boolean {
  const now = change.after ?? "";
  const texts = [isBlotted ? redactSecrets(now, change.secrets) : now, fs.readFileSync(path, "utf8")];
  const isShell = record?.undo.format === "sh" || record?.undo.format === "fish";
  const [one, other] = isShell ? texts.map((text) => withoutBlocks(text).trimEnd()) : texts;
  return one === other;
}
