/** What a setting may hold: whatever JSON, TOML and YAML can all say. */
export type Value = string | number | boolean | readonly Value[] | { readonly [name: string]: Value };

/**
 * One step on the way to a setting: the name of a key, or the item of a list that has these fields. A list without such
 * an item gets one at its end.
 */
export type Step = string | { readonly where: Readonly<Record<string, string>> };

/** One setting of a tool's configuration, as tollkeeper wants it. */
export interface Setting {
  /** From the top of the file; never empty. */
  at: readonly Step[];
  value: Value;
  /** What it is for, in one line, for the person who is asked. */
  why: string;
  /**
   * The tool only wants something there: a value that stands there already stays, and ours goes again when disconnecting
   * even if the tool has made another of it, as one does that writes down when it last ran.
   */
  isAnyFine?: true;
}

/** How a file is written. `sh` and `fish`: a block of lines of ours that set variables, in a shell's start-up file. */
export type Format = "jsonc" | "toml" | "yaml" | "sh" | "fish";

/** The settings that one file gets, none of them within another; the file may be missing. */
export interface FileSettings {
  /** Absolute. */
  path: string;
  format: Format;
  settings: readonly Setting[];
}
