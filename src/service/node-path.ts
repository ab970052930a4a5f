import type { PathProbes } from "./path-probes.ts";
import { layoutOf, NODE_MANAGERS, PACKAGE_MANAGERS, stablePath } from "./version-directories.ts";

/** A path for a service's definition, and what speaks against it: one sentence with the command that mends it, or null. */
export interface PathChoice {
  /** Absolute. */
  path: string;
  risk: string | null;
}

const AGAIN = "type again: tollkeeper service install";

/**
 * By which path a service should name the Node that runs at `execPath`: one that leads to the same executable and
 * survives upgrades, or, where there is none, its own with the risk.
 */
export function chooseNode(execPath: string, probes: PathProbes): PathChoice {
  const real = probes.realpath(execPath);
  if (real === null) return { path: execPath, risk: `there is no Node at ${execPath} any more; ${AGAIN}` };
  if (isTemporary(real, probes)) {
    return { path: real, risk: `this Node is in a temporary directory; with one that stays, ${AGAIN}` };
  }
  const layout = layoutOf(real, [...PACKAGE_MANAGERS, ...NODE_MANAGERS]);
  if (layout === undefined) return { path: real, risk: null };
  const stable = stablePath(real, layout, probes);
  if (stable !== null) return { path: stable, risk: null };
  const risk = `the path of this Node (${layout.manager}) goes away with its version; after an upgrade of Node, ${AGAIN}`;
  return { path: real, risk };
}

/**
 * By which path a service should name this program's `main.js`. One that is installed below a Node of a version
 * manager's goes with that Node, and the next one does not have it: a stable path to the Node helps nothing there.
 */
export function chooseScript(script: string, probes: PathProbes): PathChoice {
  const real = probes.realpath(script) ?? script;
  if (/\/(?:_npx|dlx(?:-[^/]*)?)\//.test(real)) return unsettled(real, "the cache of npx");
  if (isTemporary(real, probes)) return unsettled(real, "a temporary directory");
  const packaged = layoutOf(real, PACKAGE_MANAGERS);
  const stable = packaged === undefined ? null : stablePath(real, packaged, probes);
  if (stable !== null) return { path: stable, risk: null };
  const manager = (packaged ?? layoutOf(real, NODE_MANAGERS))?.manager;
  if (manager === undefined) return { path: real, risk: null };
  const risk = `the path of tollkeeper (${manager}) goes away with a version; after an upgrade install it again, then ${AGAIN}`;
  return { path: real, risk };
}

function unsettled(path: string, place: string): PathChoice {
  const risk = `tollkeeper runs from ${place}, which is emptied at times; install it with npm install -g, then ${AGAIN}`;
  return { path, risk };
}

function isTemporary(path: string, { temporary }: PathProbes): boolean {
  return temporary.some((directory) => path.startsWith(`${directory}/`));
}
