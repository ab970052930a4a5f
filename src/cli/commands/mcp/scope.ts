import { findProjectOf } from "../../../adapters/peer/project-of-directory.ts";
import { findWorkingDirectory } from "../../../adapters/program.ts";
import type { Config } from "../../../core/config/config.ts";
import { Failure } from "../../../core/failure.ts";

/** Whose figures a server gives. */
export interface Scope {
  /** The project in which it was started; null outside of any. */
  project: string | null;
  /** True where the command line allows the figures of all projects. */
  hasAllProjects: boolean;
}

/** The word for the branch that is checked out. */
const CHECKED_OUT = "HEAD";

/** Finds the project of the working directory. */
export async function findScope(hasAllProjects: boolean): Promise<Scope> {
  return { project: (await findHere()).project, hasAllProjects };
}

/**
 * Returns the project that a question is about, as a filter.
 * @param asked the parameter; undefined for the server's own project
 * @throws Failure for another project that is not allowed, and where the server's own is not known
 */
export function projectFilter({ project, hasAllProjects }: Scope, asked: string | undefined): string {
  if (asked !== undefined && hasAllProjects) return asked;
  if (asked !== undefined && asked !== project)
    throw new Failure("figures of other projects are not allowed", ALLOW);
  if (project === null)
    throw new Failure("the server was started outside of any project", `start it in a project; ${ALLOW}`);
  if (project.includes(ANY))
    throw new Failure(`the project's path has a "${ANY}", which stands for any characters`, ALLOW);
  return project;
}

const ANY = "*";
const ALLOW = "to allow all projects, start the server with: tollkeeper mcp --all-projects";

/** Returns the branch that a question is about, as a filter. @throws Failure if none is checked out */
export async function branchFilter(asked: string | undefined): Promise<string | undefined> {
  if (asked !== CHECKED_OUT) return asked;
  const { branch } = await findHere();
  if (branch === null) throw new Failure("no git branch is checked out here");
  return branch;
}

/** Throws a Failure that says how projects are recorded, unless they are. */
export function requireProjects({ ledger }: Config): void {
  if (!ledger.project) throw new Failure("projects are not recorded", RECORD);
}

const RECORD =
  "to record them, type: tollkeeper config set ledger.project true; if tollkeeper runs as a service, then type: tollkeeper service install";

function findHere(): ReturnType<typeof findProjectOf> {
  return findProjectOf(findWorkingDirectory() ?? "/");
}
