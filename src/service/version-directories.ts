import type { PathProbes } from "./path-probes.ts";

/** How a package manager or a Node version manager lays out its directories. */
interface VersionLayout {
  manager: string;
  /** Matches the leading part of a resolved path that belongs to one version and is removed with it. */
  version: RegExp;
  /**
   * Replacements for `version` that stay valid when the version changes, best first; `~` is the home directory. Empty
   * where the manager has none.
   */
  stable: readonly string[];
}

/** Layouts whose stable directories lead to everything in the version's directory. */
export const PACKAGE_MANAGERS: readonly VersionLayout[] = [
  {
    // `opt` survives `brew unlink`, and a versioned formula such as node@22 has nothing else.
    manager: "Homebrew",
    version: /^(?<prefix>.*)\/Cellar\/(?<formula>[^/]+)\/[^/]+(?=\/)/,
    stable: ["$<prefix>/opt/$<formula>", "$<prefix>"],
  },
  {
    manager: "Nix",
    version: /^(?<root>.*)\/nix\/store\/[^/]+(?=\/)/,
    stable: ["~/.nix-profile", "~/.local/state/nix/profile", "$<root>/run/current-system/sw"],
  },
  // Not /snap/bin/node, which is a link to the `snap` program.
  { manager: "snap", version: /^(?<name>.*\/snap\/[^/]+)\/x?\d+(?=\/)/, stable: ["$<name>/current"] },
  // Fedora names the executable node-22 and links node to the default one.
  { manager: "dnf", version: /(?<=\/bin)\/node-\d+$/, stable: ["/node"] },
  {
    manager: "pnpm",
    version: /^(?<root>.*)\/\.pnpm\/[^/]+\/node_modules(?=\/)/,
    stable: ["$<root>/node_modules", "$<root>"],
  },
];

/**
 * Version managers: several Nodes, each with its own global packages. Their shims do not suit a service: they put a shell
 * script (asdf) or a process (Volta) before the daemon, and choose the version by the working directory.
 */
export const NODE_MANAGERS: readonly VersionLayout[] = [
  // The other path to the same Node, in fnm_multishells, belongs to a single shell.
  {
    manager: "fnm",
    version: /^(?<root>.*)\/node-versions\/[^/]+\/installation(?=\/)/,
    stable: ["$<root>/aliases/default"],
  },
  {
    manager: "mise",
    version: /^(?<root>.*\/installs\/node)\/(?<major>\d+)[^/]*(?=\/)/,
    stable: ["$<root>/latest", "$<root>/lts", "$<root>/$<major>"],
  },
  { manager: "asdf", version: /^.*\/installs\/nodejs\/[^/]+(?=\/)/, stable: [] },
  { manager: "Volta", version: /^.*\/tools\/image\/node\/[^/]+(?=\/)/, stable: [] },
  // This is the store. `n` copies the active Node to its prefix, and that path is already stable.
  { manager: "n", version: /^.*\/n\/versions\/node\/[^/]+(?=\/)/, stable: [] },
  // The optional `current` link changes with every `nvm use` in any shell.
  { manager: "nvm", version: /^.*\/versions\/node\/v[^/]+(?=\/)/, stable: [] },
  {
    manager: "a directory of its own",
    version: /^.*\/[^/]*\d+\.\d+\.\d+[^/]*(?=\/)/,
    stable: ["/usr/local", "~/.local"],
  },
];

/** Returns the first layout that `path` belongs to. */
export function findLayout(path: string, layouts: readonly VersionLayout[]): VersionLayout | undefined {
  return layouts.find(({ version }) => version.test(path));
}

/** Returns the first stable path that currently leads to the file `real`; null when there is none. */
export function findStablePath(
  real: string,
  { version, stable }: VersionLayout,
  probes: PathProbes,
): string | null {
  const inHome = (path: string) => path.replace(/^~(?=\/)/, () => probes.home);
  const candidates = stable.map((directory) => inHome(real.replace(version, directory)));
  return candidates.find((path) => probes.realpath(path) === real) ?? null;
}
