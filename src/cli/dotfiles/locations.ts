import { join } from "node:path";
import type { HostInfo } from "../../core/host-info.ts";
import { TOOLS } from "../../tools/all.ts";
import { configHome, zshHome } from "../../tools/recipe/directories.ts";

/** `shell`: sets the environment of what is started later. `tool`: the configuration of one tool. */
export type DotfileKind = "shell" | "tool";

/** A file that may hold a key or a base URL. With an extension: every such file of the directory at `path`. */
export interface DotfileLocation {
  kind: DotfileKind;
  path: string;
  extension?: string;
}

/** Lists every location that `doctor` searches, existing or not: the shells' first, then the tools'. */
export function listDotfiles(host: HostInfo): DotfileLocation[] {
  const toolFiles = TOOLS.flatMap((tool) => tool.configFiles?.(host) ?? []);
  return [...shellLocations(host), ...toolFiles.map((path): DotfileLocation => ({ kind: "tool", path }))];
}

const HOME_FILES =
  ".profile .bash_profile .bash_login .bashrc .bash_aliases .kshrc .cshrc .tcshrc .env .envrc .pam_environment";

const ZSH_FILES = [".zshenv", ".zprofile", ".zshrc", ".zlogin"];

function shellLocations(host: HostInfo): DotfileLocation[] {
  const config = configHome(host);
  const files = [
    ...HOME_FILES.split(" ").map((name) => join(host.home, name)),
    ...ZSH_FILES.map((name) => join(zshHome(host), name)),
    join(config, "fish", "config.fish"),
    join(config, "fish", "fish_variables"),
  ];
  return [
    ...files.map((path): DotfileLocation => ({ kind: "shell", path })),
    { kind: "shell", path: join(config, "fish", "conf.d"), extension: ".fish" },
    { kind: "shell", path: join(config, "environment.d"), extension: ".conf" },
  ];
}
