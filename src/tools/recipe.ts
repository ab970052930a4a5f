import type { FileSettings } from "./setting.ts";

/** Everywhere, or in one project's directory only. */
export type Scope = "user" | "project";

/** What decides where a tool keeps its settings. */
export interface HostInfo {
  /** Home directory, absolute. */
  home: string;
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  /** Where the person is: the project, for `project`. */
  directory: string;
  /** Is there something at this absolute path? Tools choose between files by it. */
  isThere(path: string): boolean;
}

/** Where a tool is to be led. */
export interface Destination {
  /** With the tool's mark and without `/v1`: `http://127.0.0.1:8655/t/TOOL`. */
  baseUrl: string;
  /** What goes in the credential's place: a local token where `access` asks for one, else a placeholder. */
  credential: string;
  /** Must the credential reach the daemon? Then tools that send none by default are made to. */
  isToken: boolean;
  /** The model to use, where the tool must be told one; null where it has its own. */
  model: string | null;
}

/** What is to be written, and what the person must do by hand. */
export interface Plan {
  files: readonly FileSettings[];
  /** One sentence each; what is left to do, or what will not work. */
  remarks: readonly string[];
}

/** What leads one command here, and is written nowhere. */
export interface Environment {
  variables: Readonly<Record<string, string>>;
  /** Goes before the command's own arguments; for tools that listen to no variable. */
  flags: readonly string[];
}

/** How one tool is led to tollkeeper: facts and pure functions, no I/O. */
export interface Recipe {
  /** Its name in the ledger, as its mark in the path says it. */
  tool: string;
  /** Its name as its makers write it. */
  title: string;
  /** Where the settings are known from: a section of our recorded facts, or the address of its documentation. */
  source: string;
  /** Day of that knowledge: `2026-11-21`. */
  date: string;
  /** The version that was really connected and run with these settings; null where only documentation was read. */
  tried: string | null;
  /** Programs and files (below the home directory) of which one is there where the tool is installed. */
  signs: { programs: readonly string[]; files: readonly string[] };
  /** Where it keeps settings that we can write; empty where a person must do it by hand. */
  scopes: readonly Scope[];
  /** The API whose models it may be told; null where it needs no model from us. */
  modelOf: "messages" | "responses" | null;
  plan(on: HostInfo, to: Destination, scope: Scope): Plan;
  /** null where the tool does not listen to its environment or its flags. */
  environment(on: HostInfo, to: Destination): Environment | null;
}
