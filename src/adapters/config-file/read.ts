import { homedir } from "node:os";
import { formatProblem } from "../../core/config/problem.ts";
import type { Issue, Problem } from "../../core/config/problem.ts";
import { defaultConfig, checkConfig } from "../../core/config/config.ts";
import type { Config } from "../../core/config/config.ts";
import { findWarnings } from "../../core/config/warnings.ts";
import { Failure, hasCode, messageOf } from "../../core/failure.ts";
import type { Outbound } from "../../core/config/outbound.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { letRead } from "../open-up.ts";
import { readAuthorities } from "./authorities.ts";
import { MAX_PROBLEMS, readJsonc } from "./jsonc.ts";
import { readTrustedFile, type TrustedFile } from "./trusted-file.ts";

/** The configuration in a file, or all its problems. */
export type ConfigReading =
  | { ok: true; config: Config; exists: boolean; warnings: Problem[] }
  /** `isTransient`: only a file that it names is at fault, so the same text may become valid later. */
  | { ok: false; problems: Problem[]; isTransient: boolean };

/**
 * Reads and checks a configuration file. A missing file means the defaults. Never rejects: a file that cannot be read
 * or trusted is a problem, too.
 */
export async function readConfigFile(path: string): Promise<ConfigReading> {
  try {
    return await checkFile(path, await readTrustedFile(path));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return { ok: true, config: defaultConfig, exists: false, warnings: [] };
    const problem = { path: "", line: null, message: `the file cannot be used: ${messageOf(error)}` };
    return { ok: false, problems: [{ ...problem, ...hintOf(error, path) }], isTransient: false };
  }
}

/** Checks the text of a configuration file that is not written yet. Settles like {@link readConfigFile}. */
export async function checkConfigText(path: string, text: string): Promise<ConfigReading> {
  return checkFile(path, { text, isPrivate: true });
}

/** Returns what fixes a file that cannot be used, if that is known. */
function hintOf(error: unknown, path: string): { hint?: string } {
  const hint = error instanceof Failure ? error.hint : hasCode(error, "EACCES") ? letRead(path) : null;
  return typeof hint === "string" ? { hint } : {};
}

/**
 * Returns one failure that lists all problems of a configuration file, one per line. Its hint says what fixes each: an editor
 * does not help against permissions.
 */
export function configFailure(path: string, problems: readonly Problem[]): Failure {
  const lines = problems.map((problem) => `\n  ${formatProblem(path, { ...problem, hint: undefined })}`);
  const message = `the configuration is not usable${lines.join("")}`;
  const edit = formatCommand(["tollkeeper", "config", "edit", "--config", path]);
  const fixes = new Set(problems.map(({ hint }) => hint ?? `correct it with: ${edit}`));
  return new Failure(message, [...fixes].join("; then "));
}

/** Checks the file's own content first. The files it refers to are only checked when that is valid. */
async function checkFile(path: string, { text, isPrivate }: TrustedFile): Promise<ConfigReading> {
  const jsonc = readJsonc(text);
  const verdict = checkConfig(jsonc.value, homedir());
  const issues = verdict.ok
    ? await completeOutbound(path, verdict.config.outbound, isPrivate)
    : verdict.issues;
  const locate = (found: Issue[]) => found.map(jsonc.locate).filter((problem) => problem !== null);
  if (verdict.ok && issues.length === 0 && jsonc.problems.length === 0) {
    const warnings = shorten(locate(findWarnings(verdict.config)));
    return { ok: true, config: verdict.config, exists: true, warnings };
  }
  const located = locate(issues);
  const problems = [...jsonc.problems, ...located].sort((one, other) => (one.line ?? 0) - (other.line ?? 0));
  return { ok: false, problems: shorten(problems), isTransient: verdict.ok && jsonc.problems.length === 0 };
}

/** Keeps the first problems, and adds one that says there are more. */
function shorten(problems: Problem[]): Problem[] {
  if (problems.length <= MAX_PROBLEMS) return problems;
  const message = "there are more problems; correct these first";
  return [...problems.slice(0, MAX_PROBLEMS), { path: "", line: null, message }];
}

/**
 * Reads the CA certificates into `outbound`, which nothing else refers to yet. Returns what is wrong with them, and an issue
 * for a proxy password in a file that other users can read.
 */
async function completeOutbound(path: string, outbound: Outbound, isPrivate: boolean): Promise<Issue[]> {
  const issues: Issue[] = [];
  if (!isPrivate && outbound.proxy !== null && outbound.proxy.credentials !== null) {
    const message = "it contains a password, and others can read this file";
    issues.push({ path: ["outbound", "httpsProxy"], message, hint: formatCommand(["chmod", "600", path]) });
  }
  if (outbound.caFile === null) return issues;
  try {
    outbound.authorities = await readAuthorities(outbound.caFile);
  } catch (error) {
    const message = `${outbound.caFile} cannot be used: ${messageOf(error)}`;
    issues.push({ path: ["outbound", "caFile"], message, ...hintOf(error, outbound.caFile) });
  }
  return issues;
}
