import { readBranch } from "./git-branch.ts";
import { Projects } from "./projects.ts";

/** A project and its branch, as records name them. */
interface DirectoryProject {
  /** The root; null in the root of the file system, and where the disk does not respond in time. */
  project: string | null;
  branch: string | null;
}

/** Finds what the record of a client that works in this directory would name. @param directory absolute. Never rejects. */
export async function findProjectOf(directory: string): Promise<DirectoryProject> {
  const project = await new Projects().findRoot(directory);
  return { project, branch: project === null ? null : await readBranch(project) };
}
