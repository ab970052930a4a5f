import type { HostInfo } from "../core/host-info.ts";
import type { SharedApi } from "../core/http/api.ts";
import type { Evidence, ProcessSignature } from "../core/identity/signatures.ts";
import type { ToolReach } from "../core/policy/tool-reach.ts";
import type { Conflict, SettingsLayer, SettingsSource } from "./conflict.ts";
import type { McpForm } from "./recipe/mcp-server.ts";
import type { FileSettings } from "./setting.ts";

/** Everything that is known about one AI tool: data and pure functions, no I/O. */
export interface Tool {
  /** Its name in the ledger, and in the path of its base URL: `/t/NAME`. */
  name: string;
  /** Its name as its makers write it. */
  title: string;
  /** Public address of its documentation, or of its package, that its settings and files were taken from. */
  source: string;
  /** Day on which that was read or tried, and on which its processes were examined; `YYYY-MM-DD`. */
  date: string;
  /** What its signatures were taken from, and the day its requests were recorded; by default `source` and `date`. */
  recorded?: Evidence;
  /** Strongest first. all.ts merges those of all tools. */
  requestSignatures?: readonly ToolRequestSignature[];
  /** A row with a `source` was taken from there. */
  processSignatures?: readonly (Pick<ProcessSignature, "names" | "path"> & { source?: string })[];
  /** See {@link ProcessSignature.isEditor}. */
  isEditor?: true;
  /**
   * What to do if its streams of Chat Completions report no usage, as a sentence in the imperative without its end. By
   * default, to make it ask for usage (docs/wire.md section 7).
   */
  usageRemedy?: string;
  /** Absolute paths of the files, existing or not, that may hold a key or a base URL. `doctor` searches them. */
  configFiles?(host: HostInfo): readonly string[];
}

/** A request signature as a tool's file states it. */
export interface ToolRequestSignature {
  /** Pattern by header. */
  when: Readonly<Record<string, RegExp>>;
  /** Headers that must be absent. */
  without?: readonly string[];
  /** Other programs may send the same: tried after the other signatures of all tools. */
  isWeak?: true;
  /** Where it was read, if not where the tool's other signatures were. */
  source?: string;
}

/** How `connect` points a tool at tollkeeper. */
export interface Recipe {
  /** Where the tool keeps settings that tollkeeper can write; empty where the user has to do it manually. */
  scopes: readonly Scope[];
  /** The APIs whose models `connect` chooses from, the preferred one first; empty where the tool knows its models. */
  modelApis: readonly SharedApi[];
  /** The models for background requests of a tool that uses its main model for them behind another base URL; else absent. */
  smallModels?: RegExp;
  /** How to see that it has saved a login. Only tools whose own plan may pass have this (docs/plans.md). */
  savedLogin?: SavedLogin;
  /** True for a tool that can be told to take any base URL for its vendor's own, and then leaves out nothing. */
  hasFirstPartyMode?: true;
  /** True for a tool that can be told to use Amazon Bedrock at any base URL, and is where its upstreams serve only that. */
  speaksBedrock?: true;
  plan(host: ToolHost, endpoint: LocalEndpoint, scope: Scope): SettingsPlan;
  /** null if the tool reads neither environment variables nor flags for this. */
  environment(host: ToolHost, endpoint: LocalEndpoint): Environment | null;
  /** Key path of the setting whose command draws the tool's status line; absent where there is none. */
  statusLine?: readonly string[];
  /** Where the user's MCP servers are; absent where `connect` cannot set one. */
  mcpServers?: McpServers;
  /** Absent where no setting is known that works against a connection. */
  conflicts?: ConflictRules;
}

/** Where a tool keeps the MCP servers that it starts in every project. */
export interface McpServers {
  file(host: ToolHost): Pick<FileSettings, "path" | "format">;
  /** Of the servers, by their names. */
  keyPath: readonly string[];
  form: McpForm;
}

/** How to see that a tool has saved a login. */
interface SavedLogin {
  /** The file whose existence shows it. It may hold a credential, so it is never opened. */
  file(host: HostInfo): string;
  /** The variable that holds a login in its place; null where there is none. */
  variable: string | null;
  /** On macOS, where the keychain may hold the login: the tool's own command, and what it prints then. null where there is none. */
  status: { command: readonly [program: string, ...args: string[]]; says: RegExp } | null;
}

/** Which of a tool's other settings work against a connection. */
export interface ConflictRules {
  /** Where the tool reads settings from, existing or not, in its order: a later source overrides an earlier one. */
  sources(host: ToolHost): readonly SettingsSource[];
  /** The APIs whose models `connect` chooses from where a conflict needs one, the preferred one first. */
  modelApis?: readonly SharedApi[];
  /** Finds the conflicts in the sources that exist. */
  find(layers: readonly SettingsLayer[], endpoint: LocalEndpoint): readonly Conflict[];
}

/** A tool that tollkeeper can connect, or for which it can print instructions. */
export interface ConnectableTool extends Tool, Recipe {
  /** Version that was connected and run with these settings; null if only the documentation was read. */
  tried: string | null;
  /** Its executables. One on the PATH shows that it is installed. */
  programs: readonly string[];
  /** Paths below the home directory. One that exists shows that it is installed. */
  homePaths: readonly string[];
}

/** `user`: everywhere. `project`: in one project's directory only. */
export type Scope = "user" | "project";

/** What decides where a tool keeps its settings. */
export interface ToolHost extends HostInfo {
  /** Working directory, absolute; the project's in scope `project`. */
  directory: string;
  /** True when something exists at this absolute path. It decides which of two files some tools read. */
  exists(path: string): boolean;
  /** Names in the directory at this absolute path; none when there is none. */
  list(directory: string): readonly string[];
}

/** Who pays for what a tool asks: `key`, a key that tollkeeper holds; `plan`, the plan that the tool itself is signed in with. */
export type Account = "key" | "plan";

/** The local endpoint that a tool is pointed at. */
export interface LocalEndpoint {
  /** With the tool's mark and without `/v1`: `http://127.0.0.1:8655/t/TOOL`. For a plan, `/plan` follows. */
  baseUrl: string;
  /** `plan` only for a tool with {@link Recipe.savedLogin}: the settings leave its login alone, and hold no other credential. */
  account: Account;
  /** The tool's credential: a local token where `access` requires one, else a placeholder. */
  credential: string;
  /** True when the daemon requires the credential: tools that send none by default must be made to. */
  isToken: boolean;
  /** The model to use; null leaves the choice to the tool. */
  model: string | null;
  /** The listed model for background requests; null where none is known. See {@link Recipe.smallModels}. */
  smallModel: string | null;
  /** True when the user asks that the tool take this base URL for its vendor's own. See {@link Recipe.hasFirstPartyMode}. */
  isFirstParty: boolean;
  /** What the tool's requests reach: features that only the vendor's own service has stay on only there. */
  reach: ToolReach;
}

/** What is to be written for a tool, and what the user has to know. */
export interface SettingsPlan {
  files: readonly FileSettings[];
  /** One sentence each: what is left to do manually, or what will not work. */
  remarks: readonly string[];
}

/** What points one run of a command at tollkeeper. */
export interface Environment {
  variables: Readonly<Record<string, string>>;
  /** Go before the command's own arguments. For tools that no variable redirects. */
  flags: readonly string[];
}
