import { basename, join } from "node:path";
import type { Plan, HostInfo } from "./recipe.ts";
import type { FileSettings } from "./setting.ts";
import { configHome, directoryOf } from "./directories.ts";
import type { Variable } from "./variables.ts";

/**
 * Variables for tools that have no settings file for them: in what the person's shell reads when it starts in a terminal.
 * What is started elsewhere, from a menu or by a service manager, does not see them.
 */
export function planVariables(on: HostInfo, variables: readonly Variable[]): Plan {
  const settings = variables.map(({ name, value, why }) => ({ at: [name], value, why }));
  return {
    files: [{ ...startUpFile(on), settings }],
    remarks: ["Shells that are open already do not know of it: open a new terminal."],
  };
}

/**
 * bash(1) and zsh(1) read these in every interactive shell, and fish all that is in conf.d
 * (https://fishshell.com/docs/current/language.html#configuration-files); other shells read theirs at login.
 */
function startUpFile(on: HostInfo): Pick<FileSettings, "path" | "format"> {
  const shell = basename(on.env["SHELL"] ?? "");
  if (shell === "fish")
    return { path: join(configHome(on), "fish", "conf.d", "tollkeeper.fish"), format: "fish" };
  if (shell === "zsh") return { path: join(directoryOf(on, "ZDOTDIR"), ".zshrc"), format: "sh" };
  return { path: join(on.home, shell === "bash" ? ".bashrc" : ".profile"), format: "sh" };
}
