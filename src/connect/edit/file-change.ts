import type { Secret } from "../../core/secrets/secret.ts";

/**
 * What connecting or disconnecting does to a file.
 * - `created`, `changed`: connecting writes it
 * - `unchanged`: it already has the wanted text
 * - `restored`: disconnecting makes it byte for byte what it was
 * - `cleared`: it was edited since; disconnecting removes our settings and keeps the edits
 * - `removed`: connecting created it, and it holds only our settings
 * - `missing`: it was deleted since, and stays deleted
 */
export type FileOutcome =
  | "created"
  | "changed"
  | "unchanged"
  | "restored"
  | "cleared"
  | "removed"
  | "missing";

/** The change of one file. Its texts may hold keys: show them only through `renderDiff`. */
export interface FileChange {
  /** The path that the tool uses. A symbolic link stays one. */
  path: string;
  /** null: the file does not exist. */
  before: string | null;
  /** null: the file will not exist. */
  after: string | null;
  outcome: FileOutcome;
  /** The secrets in both texts, to redact wherever a text is shown or stored. */
  secrets: readonly Secret[];
  /** Every setting that is written (`env.ANTHROPIC_BASE_URL`), and its purpose. */
  purposes: readonly { setting: string; purpose: string }[];
}

/** A real key in a setting that connecting overwrites. */
export interface OverwrittenKey {
  path: string;
  setting: string;
  key: Secret;
  /** True when the setting is left empty, because the tool prefers another credential. */
  isEmptied: boolean;
}

/**
 * Why disconnecting does not restore a setting.
 * - `changed`: it was edited since, and stays as it is
 * - `was-key`: it held a real key, which was not kept; the setting is removed
 */
export type UnrestoredReason = "changed" | "was-key";

/** A setting that disconnecting does not restore. */
export interface UnrestoredSetting {
  path: string;
  setting: string;
  reason: UnrestoredReason;
}
