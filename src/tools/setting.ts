/** What a setting can hold: whatever JSON, TOML and YAML have in common. */
export type Value = string | number | boolean | readonly Value[] | { readonly [name: string]: Value };

/**
 * One step on the path to a setting: a key, or an item of a list, which is added where there is none. `where`: the object
 * with these values. `item`: this string, which is then the setting's value.
 */
export type PathSegment =
  | string
  | { readonly where: Readonly<Record<string, string>> }
  | { readonly item: string };

/** One setting that `connect` writes into a tool's configuration. */
export interface Setting {
  /** From the top of the file; never empty. */
  keyPath: readonly PathSegment[];
  value: Value;
  /** What the setting is for, in one line; shown to the user who is asked to confirm it. */
  purpose: string;
  /**
   * The tool requires the setting, and any value will do: an existing value stays. Disconnecting removes a value that
   * connecting wrote even if the tool has changed it since, such as the time of its last run.
   */
  acceptsAnyValue?: true;
  /** The setting runs our status line. One that was edited since is still ours while {@link isOwnStatusLine} says so. */
  isStatusLine?: true;
  /** The setting runs our MCP server. One that was edited since is still ours while {@link isOwnMcpServer} says so. */
  isMcpServer?: true;
}

/** How a file is written. `sh` and `fish`: as a block of lines that set variables, in a shell's start-up file. */
export type Format = "jsonc" | "toml" | "yaml" | "sh" | "fish";

/** The settings for one file, none of them inside another. The file need not exist. */
export interface FileSettings {
  /** Absolute. */
  path: string;
  format: Format;
  settings: readonly Setting[];
}
