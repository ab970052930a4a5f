import { realpathSync } from "node:fs";
import { homedir, tmpdir } from "node:os";

/** What the choice of a stable path needs to know of the file system. */
export interface PathProbes {
  /** Returns the path with its symbolic links resolved; null when nothing exists there. */
  realpath(path: string): string | null;
  /** Home directory, absolute. */
  home: string;
  /** Directories that the system empties, links resolved. */
  temporary: readonly string[];
}

/** Returns the probes of this machine. */
export function createPathProbes(): PathProbes {
  const temporary = [tmpdir(), "/tmp", "/run"].map(realpath).filter((path) => path !== null);
  return { realpath, home: homedir(), temporary };
}

function realpath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** A path for the service definition, absolute. */
interface PathChoice {
  path: string;
  /** Why the path may stop working, with the command that fixes it, in one sentence; null for a stable path. */
  risk: string | null;
}

/** What chooses the paths of a service. */
const INSTALL = "tollkeeper service install";

/**
 * Returns the path by which a service should run the Node at `execPath`: one that leads to the same executable and
 * survives upgrades, or its own path with the risk. `command` chooses it once more.
 */
export function chooseNode(execPath: string, probes: PathProbes, command = INSTALL): PathChoice {
  const again = `run again: ${command}`;
  const real = probes.realpath(execPath);
  if (real === null) return { path: execPath, risk: `Node no longer exists at ${execPath}; ${again}` };
  if (isTemporary(real, probes)) {
    return { path: real, risk: `this Node is in a temporary directory; with a permanent one, ${again}` };
  }
  const layout = findLayout(real, [...PACKAGE_MANAGERS, ...NODE_MANAGERS]);
  if (layout === undefined) return { path: real, risk: null };
  const stable = findStablePath(real, layout, probes);
  if (stable !== null) return { path: stable, risk: null };
  const risk = `the path of this Node (${layout.manager}) is removed with its version; after an upgrade of Node, ${again}`;
  return { path: real, risk };
}

/**
 * Returns the path by which a service should run this program's `main.js`. Only package managers give it a stable one: a
 * global package below a version manager's Node is removed with that Node and missing from the next one.
 */
export function chooseScript(script: string, probes: PathProbes, command = INSTALL): PathChoice {
  const again = `run again: ${command}`;
  const real = probes.realpath(script) ?? script;
  if (/\/(?:_npx|dlx(?:-[^/]*)?)\//.test(real)) return temporaryScript(real, "the cache of npx", again);
  if (isTemporary(real, probes)) return temporaryScript(real, "a temporary directory", again);
  const layout = findLayout(real, PACKAGE_MANAGERS);
  const stable = layout === undefined ? null : findStablePath(real, layout, probes);
  if (stable !== null) return { path: stable, risk: null };
  const manager = (layout ?? findLayout(real, NODE_MANAGERS))?.manager;
  if (manager === undefined) return { path: real, risk: null };
  const risk = `the path of tollkeeper (${manager}) is removed with a version; after an upgrade install it again, then ${again}`;
  return { path: real, risk };
}

function temporaryScript(path: string, place: string, again: string): PathChoice {
  const risk = `tollkeeper runs from ${place}, which the system may empty; install it with npm install -g, then ${again}`;
  return { path, risk };
}

function isTemporary(path: string, { temporary }: PathProbes): boolean {
  return temporary.some((directory) => path.startsWith(`${directory}/`));
}

function findLayout(path: string, layouts: readonly VersionLayout[]): VersionLayout | undefined {
  return layouts.find(({ version }) => version.test(path));
}

/** Returns the first stable path that currently leads to the file `real`; null when there is none. */
function findStablePath(real: string, { version, stable }: VersionLayout, probes: PathProbes): string | null {
  const inHome = (path: string) => path.replace(/^~(?=\/)/, () => probes.home);
  const candidates = stable.map((directory) => inHome(real.replace(version, directory)));
  return candidates.find((path) => probes.realpath(path) === real) ?? null;
}

/** How a package manager or a Node version manager lays out its directories. */
interface VersionLayout {
  manager: string;
  /** Matches the leading part of a resolved path that belongs to one version and is removed with it. */
  version: RegExp;
  /** Replacements for `version` that survive an upgrade, best first; `~` is the home directory. */
  stable: readonly string[];
}

/** Layouts whose stable directories lead to everything in the version's directory. */
const PACKAGE_MANAGERS: readonly VersionLayout[] = [
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
const NODE_MANAGERS: readonly VersionLayout[] = [
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
