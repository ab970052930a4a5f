import { accessSync, constants, existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { waitUntil } from "../async/wait-until.ts";

/** A control group for a test, in every hierarchy in which systemd keeps its units. */
interface ControlGroup {
  /** A command that enters the group and then executes the command that is appended to it. */
  enter: string[];
  /** Removes the group, once killed processes in it are gone. */
  remove(): Promise<void>;
}

/** Returns the reason why no control group can be created here; false when one can. */
export function noControlGroup(): string | false {
  try {
    const own = hierarchies();
    for (const directory of own) accessSync(directory, constants.W_OK);
    return own.length === 0 && "there are no control groups here";
  } catch (error) {
    return `control groups cannot be made here: ${String(error)}`;
  }
}

/** Creates the group below this process's own, so that a systemd in it never touches the machine's or another test's groups. */
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

/** Returns the directories of this process's group: in cgroup v2, and in systemd's hierarchy of cgroup v1 (cgroups(7)). */
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
  await waitUntil(`${directory} to be empty`, () => tryRemove(directory) || null);
}

/** Returns false while a process in the group has not quite ended. */
function tryRemove(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, "code") === "EBUSY") return false;
    throw error;
  }
}
