import { accessSync, constants, existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "../async/until.ts";

/** A control group of our own, in every hierarchy in which a systemd keeps its units. */
export interface ControlGroup {
  /** A command that runs, in its place and within the group, the one that is appended to it. */
  enter: string[];
  /** Takes the group away again; waits for what has been killed to be gone. */
  remove(): Promise<void>;
}

/** Why no control group can be made here; false when one can. */
export function noControlGroup(): string | false {
  try {
    const own = hierarchies();
    for (const directory of own) accessSync(directory, constants.W_OK);
    return own.length === 0 && "there are no control groups here";
  } catch (error) {
    return `control groups cannot be made here: ${String(error)}`;
  }
}

/** Below our own, so that no systemd that we start takes the machine's groups, or those of another test, for its own. */
export function createControlGroup(name: string): ControlGroup {
  const directories = hierarchies().map((own) => join(own, name));
  for (const directory of directories) mkdirSync(directory);
  const moves = directories.map((directory) => `echo $$ > '${directory}/cgroup.procs'`);
  return {
    enter: ["/bin/sh", "-ec", `${moves.join("; ")}; exec "$@"`, "sh"],
    async remove() {
      for (const directory of directories) await removeGroups(directory);
    },
  };
}

/** Directories of our own group: in cgroup v2, and in systemd's own hierarchy where there still is v1 (cgroups(7)). */
function hierarchies(): string[] {
  const groups = readFileSync("/proc/self/cgroup", "utf8");
  const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  const kinds = [
    { path: /^0::(\/.*)$/m, mount: / - cgroup2 / },
    { path: /^\d+:name=systemd:(\/.*)$/m, mount: / - cgroup .*\bname=systemd\b/ },
  ];
  return kinds.flatMap(({ path, mount }) => {
    const own = path.exec(groups)?.[1];
    const place = mounts.find((line) => mount.test(line))?.split(" ")[4];
    return own === undefined || place === undefined ? [] : [join(place, own)];
  });
}

async function removeGroups(directory: string): Promise<void> {
  if (!existsSync(directory)) return;
  for (const entry of readdirSync(directory, { withFileTypes: true }))
    if (entry.isDirectory()) await removeGroups(join(directory, entry.name));
  await until(`${directory} to be empty`, () => wasRemoved(directory) || null);
}

/** false while a process in it is still on its way out. */
function wasRemoved(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, "code") === "EBUSY") return false;
    throw error;
  }
}
