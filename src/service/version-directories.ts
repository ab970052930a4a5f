import type { PathProbes } from "./path-probes.ts";

/** How a manager of packages, or of Node's versions, lays out its directories. */
export interface Layout {
  manager: string;
  /** The leading part of a path, links resolved, that holds one version and goes away with it. */
  version: RegExp;
  /**
   * What may stand in its place and stays when the version changes, best first: replacements for `version`, in which
   * `~` is the home directory. None where the manager has nothing of the kind.
   */
  stable: readonly string[];
}

/** Those whose stable directories lead to everything that the version's directory holds. */
export const PACKAGE_MANAGERS: readonly Layout[] = [
  {
    // `opt` outlives also `brew unlink`, and is the only one that a versioned formula like node@22 has.
    manager: "Homebrew",
    version: /^(?<prefix>.*)\/Cellar\/(?<formula>[^/]+)\/[^/]+(?=\/)/,
    stable: ["$<prefix>/opt/$<formula>", "$<prefix>"],
  },
  {
    manager: "Nix",
    version: /^(?<root>.*)\/nix\/store\/[^/]+(?=\/)/,
    stable: ["~/.nix-profile", "~/.local/state/nix/profile", "$<root>/run/current-system/sw"],
  },
  // Not /snap/bin/node, which is the program `snap`.
  { manager: "snap", version: /^(?<name>.*\/snap\/[^/]+)\/x?\d+(?=\/)/, stable: ["$<name>/current"] },
  // Fedora calls the executable node-22, and links node to the one that is its default.
  { manager: "dnf", version: /(?<=\/bin)\/node-\d+$/, stable: ["/node"] },
  {
    manager: "pnpm",
    version: /^(?<root>.*)\/\.pnpm\/[^/]+\/node_modules(?=\/)/,
    stable: ["$<root>/node_modules", "$<root>"],
  },
];

/**
 * Managers of several Nodes, each with global packages of its own. Shims are no choice: they are a shell script (asdf)
 * or stay as another process (Volta) between the service manager and the daemon, and take their version from the
 * directory that they are called in.
 */
export const NODE_MANAGERS: readonly Layout[] = [
  // Its other path to the same Node, in fnm_multishells, belongs to one shell.
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
  // `n` copies the Node that is in use to its prefix, which is a stable path by itself; this is its store.
  { manager: "n", version: /^.*\/n\/versions\/node\/[^/]+(?=\/)/, stable: [] },
  // Its `current` link, where there is one, follows every `nvm use` of every shell.
  { manager: "nvm", version: /^.*\/versions\/node\/v[^/]+(?=\/)/, stable: [] },
  {
    manager: "a directory of its own",
    version: /^.*\/[^/]*\d+\.\d+\.\d+[^/]*(?=\/)/,
    stable: ["/usr/local", "~/.local"],
  },
];

/** The first layout that `path` is in. */
export function layoutOf(path: string, layouts: readonly Layout[]): Layout | undefined {
  return layouts.find(({ version }) => version.test(path));
}

/** The first stable path that leads to the same file as `real` now; null when there is none. */
export function stablePath(real: string, { version, stable }: Layout, probes: PathProbes): string | null {
  const inHome = (path: string) => path.replace(/^~(?=\/)/, () => probes.home);
  const candidates = stable.map((directory) => inHome(real.replace(version, directory)));
  return candidates.find((path) => probes.realpath(path) === real) ?? null;
}
