import type { Format, Setting } from "./setting.ts";

/**
 * Where a tool reads settings from.
 * - `user`: the user's own settings, which `connect` may change
 * - `project`: a project's settings, which others may share
 * - `managed`: an administrator's
 * - `state`: what the tool itself remembers, such as logins
 * - `environment`: the variables that it is started with, as its settings file would state them
 */
export type SettingsSource =
  | { kind: "user" | "project" | "managed" | "state"; path: string; format: Format }
  | { kind: "environment"; settings: Readonly<Record<string, unknown>>; variable?: string };

/** A source that exists, with its parsed settings. */
export interface SettingsLayer {
  source: SettingsSource;
  top: Readonly<Record<string, unknown>>;
}

/** A setting that works against a connection. */
export interface Conflict {
  source: SettingsSource;
  /** From the top of the source's settings; list items by index. */
  path: readonly (string | number)[];
  /**
   * `elsewhere`: requests do not reach tollkeeper. `credential`: they do, with another credential as well. `login`: they do, with another
   * credential instead of the login of the plan, and are refused. `statusline`: they do, and our status line is not shown.
   */
  effect: "elsewhere" | "credential" | "login" | "statusline";
  /** What the setting does, as a clause: `it chooses a model of openrouter`. */
  reason: string;
  /** What resolves it where `connect` cannot: in the imperative. By default: remove the setting. */
  advice?: string;
  /** Settings that resolve it, in the conflict's own source or in one that overrides it. Empty when there are none. */
  remedies: readonly Setting[];
  /** True when choosing a model that goes through tollkeeper resolves it, and none is chosen yet. */
  needsModel: boolean;
}
