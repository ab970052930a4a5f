import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { UnitPaths } from "./render-units.ts";

/** A file with which someone changes one of our units (systemd.unit(5)). */
export interface DropIn {
  path: string;
  text: string;
}

/**
 * Reads the drop-ins of others: those that systemd has loaded from anywhere, and those next to our units that it has not
 * loaded yet. Leaves out what this user cannot read.
 */
export function readDropIns(loaded: readonly string[], own: UnitPaths): DropIn[] {
  const beside = [dirname(own.sandbox), `${own.socket}.d`].flatMap(listDropIns);
  const paths = new Set([...loaded, ...beside]);
  paths.delete(own.sandbox);
  return [...paths].flatMap((path) => {
    try {
      return [{ path, text: readFileSync(path, "utf8") }];
    } catch {
      return [];
    }
  });
}

function listDropIns(directory: string): string[] {
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith(".conf"));
    return names.toSorted().map((name) => join(directory, name));
  } catch {
    return [];
  }
}
