import { hasCode } from "../../core/failure.ts";
import type { Issue, Problem } from "../../core/config/problem.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { readJsonc, type Jsonc } from "./jsonc.ts";
import { MANAGED_PATH, readManagedFile } from "./managed-file.ts";
import { readTrustedFile } from "../trust/trusted-file.ts";
import { reasonOf } from "../../core/system-error.ts";
import { fixOf } from "../system-fix.ts";

/** One of the two files that the configuration is made of: the user's own, or the managed one below it. */
export interface ConfigSourceFile {
  path: string;
  isManaged: boolean;
  /** null when there is no file, or when it cannot be used. */
  content: Jsonc | null;
  /** True when only the owner can access the file. */
  isPrivate: boolean;
  /** Why the file cannot be used, or what is wrong with its syntax. */
  problems: Problem[];
  /** True when the file exists and cannot be used. */
  isUnusable: boolean;
}

/** The two files of a configuration. */
export interface ConfigSources {
  own: ConfigSourceFile;
  managed: ConfigSourceFile;
}

/**
 * Reads both files. Never rejects: what cannot be read or trusted has a problem. Where `path` is the managed file's, that is read
 * alone.
 */
export async function readSources(path: string, managedPath = MANAGED_PATH): Promise<ConfigSources> {
  const name = { path, isManaged: false };
  const own = path === managedPath ? missing(name) : readOwn(name);
  const managed = readManaged(managedPath);
  return { own: await own, managed: await managed };
}

/** As {@link readSources}, with a text in place of the user's file. */
export async function sourcesOfText(path: string, text: string, managedPath: string): Promise<ConfigSources> {
  const own = { path, isManaged: false };
  return { own: parsed(own, text, true), managed: await readManaged(managedPath) };
}

/** Returns where an issue is in its file; null when a syntax error precedes it. */
export function locateIn(file: ConfigSourceFile, issue: Issue): Problem | null {
  const problem = file.content?.locate(issue) ?? null;
  return problem !== null && file.isManaged ? ofManaged(file.path, problem) : problem;
}

async function readOwn(file: FileName): Promise<ConfigSourceFile> {
  try {
    const { text, isPrivate } = await readTrustedFile(file.path);
    return parsed(file, text, isPrivate);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return missing(file);
    return unusable(file, error, fixOf(error));
  }
}

async function readManaged(path: string): Promise<ConfigSourceFile> {
  const file = { path, isManaged: true };
  try {
    const text = await readManagedFile(path);
    return text === null ? missing(file) : parsed(file, text, false);
  } catch (error) {
    return unusable(file, error, fixOf(error));
  }
}

type FileName = Pick<ConfigSourceFile, "path" | "isManaged">;

function parsed(file: FileName, text: string, isPrivate: boolean): ConfigSourceFile {
  const content = readJsonc(text);
  const problems = file.isManaged
    ? content.problems.map((problem) => ofManaged(file.path, problem))
    : content.problems;
  return { ...file, content, isPrivate, problems, isUnusable: false };
}

function missing(file: FileName): ConfigSourceFile {
  return { ...file, content: null, isPrivate: true, problems: [], isUnusable: false };
}

function unusable(file: FileName, error: unknown, fix: string | undefined): ConfigSourceFile {
  const message = `the file cannot be used: ${reasonOf(error)}`;
  const problem = { path: "", line: null, message, ...(fix !== undefined && { hint: fix }) };
  const problems = [file.isManaged ? ofManaged(file.path, problem) : problem];
  return { ...missing(file), problems, isUnusable: true };
}

/** Only root can correct the managed file. */
function ofManaged(path: string, problem: Problem): Problem {
  return { file: path, hint: formatCommand(["sudo", "-e", path]), ...problem };
}
