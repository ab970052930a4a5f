import type { PathProbes } from "./path-probes.ts";
import { findLayout, findStablePath, NODE_MANAGERS, PACKAGE_MANAGERS } from "./version-directories.ts";

/** A path for the service definition. */
interface PathChoice {
  /** Absolute. */
  path: string;
  /** Why the path may stop working, with the command that fixes it, in one sentence; null for a stable path. */
  risk: string | null;
}

const AGAIN = "type again: tollkeeper service install";

/**
 * Returns the path by which a service should run the Node at `execPath`: one that leads to the same executable and
 * survives upgrades, or its own path with the risk.
 */
export function chooseNode(execPath: string, probes: PathProbes): PathChoice {
  const real = probes.realpath(execPath);
  if (real === null) return { path: execPath, risk: `there is no Node at ${execPath} any more; ${AGAIN}` };
  if (isTemporary(real, probes)) {
    return { path: real, risk: `this Node is in a temporary directory; with one that stays, ${AGAIN}` };
  }
  const layout = findLayout(real, [...PACKAGE_MANAGERS, ...NODE_MANAGERS]);
  if (layout === undefined) return { path: real, risk: null };
  const stable = findStablePath(real, layout, probes);
  if (stable !== null) return { path: stable, risk: null };
  const risk = `the path of this Node (${layout.manager}) goes away with its version; after an upgrade of Node, ${AGAIN}`;
  return { path: real, risk };
}

/**
 * Returns the path by which a service should run this program's `main.js`. Only package managers give it a stable one: a
 * global package below a version manager's Node is removed with that Node and missing from the next one.
 */
export function chooseScript(script: string, probes: PathProbes): PathChoice {
  const real = probes.realpath(script) ?? script;
  if (/\/(?:_npx|dlx(?:-[^/]*)?)\//.test(real)) return temporaryScript(real, "the cache of npx");
  if (isTemporary(real, probes)) return temporaryScript(real, "a temporary directory");
  const layout = findLayout(real, PACKAGE_MANAGERS);
  const stable = layout === undefined ? null : findStablePath(real, layout, probes);
  if (stable !== null) return { path: stable, risk: null };
  const manager = (layout ?? findLayout(real, NODE_MANAGERS))?.manager;
  if (manager === undefined) return { path: real, risk: null };
  const risk = `the path of tollkeeper (${manager}) goes away with a version; after an upgrade install it again, then ${AGAIN}`;
  return { path: real, risk };
}

function temporaryScript(path: string, place: string): PathChoice {
  const risk = `tollkeeper runs from ${place}, which is emptied at times; install it with npm install -g, then ${AGAIN}`;
  return { path, risk };
}

function isTemporary(path: string, { temporary }: PathProbes): boolean {
  return temporary.some((directory) => path.startsWith(`${directory}/`));
}
