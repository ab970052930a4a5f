import { basename, join } from "node:path";
import type { FileSettings } from "../setting.ts";
import type { ConflictRules, SettingsPlan, ToolHost } from "../tool.ts";
import { findOtherBaseUrl, findOtherCredential, findText } from "./layers.ts";
import { configHome, zshHome } from "./directories.ts";
import { BYPASS_VARIABLES, LOOPBACK_HOSTS } from "./loopback-bypass.ts";

/** An environment variable and what it is for. */
export interface Variable {
  name: string;
  value: string;
  purpose: string;
}

const BYPASS = "no proxy between programs and tollkeeper, in addition to the hosts that are listed already";

/** Returns the variables as a process's environment holds them. */
export function toEnvironment(variables: readonly Variable[]): Record<string, string> {
  return Object.fromEntries(variables.map(({ name, value }) => [name, value]));
}

/**
 * Plans variables in the start-up file of the user's shell, for tools that have no settings file for them. Programs that
 * a menu or a service manager starts do not see them.
 */
export function planVariables(host: ToolHost, variables: readonly Variable[]): SettingsPlan {
  const bypass = BYPASS_VARIABLES.map((name) => ({ name, value: LOOPBACK_HOSTS, purpose: BYPASS }));
  const all = [...variables, ...bypass];
  const settings = all.map(({ name, value, purpose }) => ({ keyPath: [name], value, purpose }));
  return {
    files: [{ ...startUpFile(host), settings }],
    remarks: ["Open a new terminal: shells that are already open do not see the change."],
  };
}

/**
 * Returns the rules for a tool that follows the variables of its shell's start-up file: which of them set a base URL, and
 * which a credential. In that file the last assignment counts.
 */
export function variableConflicts(urls: readonly string[], credentials: readonly string[]): ConflictRules {
  return {
    sources: (host) => [{ kind: "user", ...startUpFile(host) }],
    find: (layers, endpoint) => [
      ...urls.flatMap((name) => findOtherBaseUrl(findText(layers, name), endpoint)),
      ...credentials.flatMap((name) =>
        findOtherCredential(
          findText(layers, name),
          endpoint,
          "it is sent in addition to tollkeeper's or instead of it",
        ),
      ),
    ],
  };
}

/** Shells whose language has neither `export NAME=value` nor fish's `set -gx`: our block would be an error at each of their starts. */
const OTHER_LANGUAGES = new Set(["nu", "xonsh", "elvish", "pwsh", "csh", "tcsh", "murex", "ion", "rc", "es"]);

/** Returns the name of the user's shell if it cannot read the lines that set variables; null for one that can. */
export function findForeignShell(env: ToolHost["env"]): string | null {
  const shell = basename(env["SHELL"] ?? "");
  return OTHER_LANGUAGES.has(shell) ? shell : null;
}

/**
 * Interactive shells read these files: bash(1), zsh(1), and all of conf.d for fish
 * (https://fishshell.com/docs/current/language.html#configuration-files). Other shells read .profile at login.
 */
function startUpFile(host: ToolHost): Pick<FileSettings, "path" | "format"> {
  const shell = basename(host.env["SHELL"] ?? "");
  if (shell === "fish")
    return { path: join(configHome(host), "fish", "conf.d", "tollkeeper.fish"), format: "fish" };
  if (shell === "zsh") return { path: join(zshHome(host), ".zshrc"), format: "sh" };
  return { path: join(host.home, shell === "bash" ? ".bashrc" : ".profile"), format: "sh" };
}
