import type { NamedRow } from "./feed-types.ts";

/** The projects that the page has met. None is forgotten, so that a project has the same name in all views. */
const known = new Set<string>();
let nameOf: ReadonlyMap<string, string> = new Map();

/** Meets projects: from then on their names tell them apart from each other and from those that were met before. */
export function meetProjects(paths: Iterable<string>): void {
  const before = known.size;
  for (const path of paths) known.add(path);
  if (known.size > before) nameOf = tellPathsApart(known);
}

/** Names a project by its last parts, as many as tell it apart from all projects that the page has met: `shop`, or `client/shop`. */
export function nameProject(path: string): string {
  meetProjects([path]);
  return nameOf.get(path) ?? path;
}

/** The projects that rows name. */
export function projectsIn(rows: readonly NamedRow[]): string[] {
  return rows.flatMap(({ project }) => (typeof project === "string" ? [project] : []));
}

/** Names a group as all views do: a project by {@link nameProject}, anything else as it is. */
export function nameGroup(by: string, name: string): string {
  return by === "project" && name !== "(no project)" ? nameProject(name) : name;
}

/** Returns for each path its last parts, as many as tell it apart from the others: `shop`, or `src/shop` and `work/shop`. */
export function tellPathsApart(paths: Iterable<string>): ReadonlyMap<string, string> {
  const all = [...new Set(paths)];
  const names = new Map<string, string>();
  let open = all;
  for (let parts = 1; open.length > 0; parts += 1) {
    const uses = new Map<string, number>();
    for (const path of open) {
      const name = lastParts(path, parts);
      uses.set(name, (uses.get(name) ?? 0) + 1);
      names.set(path, name);
    }
    open = open.filter((path) => {
      const name = lastParts(path, parts);
      return (uses.get(name) ?? 0) > 1 && name !== path;
    });
  }
  return names;
}

/** The last parts of a path; the whole path if it has no more. */
function lastParts(path: string, count: number): string {
  const parts = path.split("/").filter((part) => part !== "");
  return parts.length <= count ? path : parts.slice(-count).join("/");
}
