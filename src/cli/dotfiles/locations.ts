import { join } from "node:path";

/** What decides where the files of shells and tools are. */
export interface FileSurroundings {
  /** Home directory, absolute. */
  home: string;
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
}

/** `shell`: its lines become the environment of what is started later. `tool`: a configuration of one tool's. */
export type PlaceKind = "shell" | "tool";

/** A file that may hold a key or a base URL; with `ending`, every file of that name in a directory. */
export interface Place {
  kind: PlaceKind;
  path: string;
  ending?: string;
}

/** Every file that `doctor` looks through, there or not: shells first, then tools (facts/clients.md section 4). */
export function placesIn(on: FileSurroundings): Place[] {
  return [...shellPlaces(on), ...toolFiles(on).map((path): Place => ({ kind: "tool", path }))];
}

const IN_HOME = [
  ".profile",
  ".bash_profile",
  ".bash_login",
  ".bashrc",
  ".bash_aliases",
  ".kshrc",
  ".cshrc",
  ".tcshrc",
  ".env",
  ".envrc",
  ".pam_environment",
];

const OF_ZSH = [".zshenv", ".zprofile", ".zshrc", ".zlogin"];

function shellPlaces({ home, env }: FileSurroundings): Place[] {
  const config = directoryIn(env, "XDG_CONFIG_HOME", join(home, ".config"));
  const zsh = directoryIn(env, "ZDOTDIR", home);
  const files = [
    ...IN_HOME.map((name) => join(home, name)),
    ...OF_ZSH.map((name) => join(zsh, name)),
    join(config, "fish", "config.fish"),
    join(config, "fish", "fish_variables"),
  ];
  return [
    ...files.map((path): Place => ({ kind: "shell", path })),
    { kind: "shell", path: join(config, "fish", "conf.d"), ending: ".fish" },
    { kind: "shell", path: join(config, "environment.d"), ending: ".conf" },
  ];
}

function toolFiles({ home, env, platform }: FileSurroundings): string[] {
  const config = directoryIn(env, "XDG_CONFIG_HOME", join(home, ".config"));
  const data = directoryIn(env, "XDG_DATA_HOME", join(home, ".local", "share"));
  const claude = directoryIn(env, "CLAUDE_CONFIG_DIR", join(home, ".claude"));
  const codex = directoryIn(env, "CODEX_HOME", join(home, ".codex"));
  const editors = platform === "darwin" ? join(home, "Library", "Application Support") : config;
  const below: [string, string[]][] = [
    [claude, ["settings.json", "settings.local.json", ".claude.json"]],
    [codex, ["config.toml", "auth.json", ".env"]],
    [join(config, "opencode"), ["opencode.json", "opencode.jsonc", "config.json"]],
    [join(config, "kilo"), ["kilo.json", "kilo.jsonc"]],
    [data, ["opencode/auth.json", "kilo/auth.json", "crush/crush.json"]],
    [home, [".claude.json", ".aider.conf.yml"]],
    [join(home, ".qwen"), ["settings.json", ".env"]],
    [join(home, ".cline", "data"), ["settings/providers.json", "secrets.json"]],
    [join(home, ".continue"), ["config.yaml", "config.json", ".env"]],
    [join(home, ".copilot"), ["config.json"]],
    [join(home, ".pi", "agent"), ["models.json", "auth.json", "settings.json"]],
    [join(home, ".factory"), ["settings.json", "config.json"]],
    [config, ["goose/config.yaml", "goose/secrets.yaml", "crush/crush.json", "zed/settings.json"]],
    [config, ["io.datasette.llm/keys.json"]],
    [editors, ["Code/User/settings.json", "Cursor/User/settings.json"]],
  ];
  return below.flatMap(([directory, names]) => names.map((name) => join(directory, name)));
}

function directoryIn(env: NodeJS.ProcessEnv, name: string, otherwise: string): string {
  const value = env[name];
  return value === undefined || value === "" ? otherwise : value;
}
