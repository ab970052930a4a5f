import { homeDirectory } from "../paths.ts";
import type { ConfigPath } from "../../core/config/config-path.ts";
import { defaultConfig, type Config } from "../../core/config/config.ts";
import { checkLayers, type LayeredIssue, type Layers } from "../../core/config/layers.ts";
import { isFromManaged } from "../../core/config/managed.ts";
import type { Outbound } from "../../core/config/outbound.ts";
import { formatProblem, type Issue, type Problem } from "../../core/config/problem.ts";
import { findWarnings } from "../../core/config/warnings.ts";
import { Failure } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { readAuthorities } from "./authorities.ts";
import { MAX_PROBLEMS } from "./jsonc.ts";
import { MANAGED_PATH } from "./managed-file.ts";
import { locateIn, readSources, sourcesOfText, type ConfigSources } from "./sources.ts";
import { fixOf } from "../system-fix.ts";
import { reasonOf } from "../../core/system-error.ts";

/** A managed configuration file that is in use. */
export interface ManagedFile {
  path: string;
  /** What users cannot change, each with everything below it. */
  locked: ConfigPath[];
}

/** The configuration in a user's file and the managed one below it. */
export interface ValidConfig {
  ok: true;
  config: Config;
  /** Whether the user's file exists. */
  exists: boolean;
  /** null when there is no managed file. */
  managed: ManagedFile | null;
  warnings: Problem[];
  /** Mistakes in the user's file that keep nothing from working: values that are not used, because of what the managed file locks. */
  overruled: Problem[];
}

/** A {@link ValidConfig}, or all problems of the two files. */
export type ConfigReading =
  | ValidConfig
  /** `isTransient`: only a file that they name is at fault, so the same text may become valid later. */
  | { ok: false; problems: Problem[]; isTransient: boolean };

/**
 * Reads and checks a user's configuration file and the managed one. A missing file sets nothing. Never rejects: a file that cannot
 * be read or trusted is a problem, too.
 */
export async function readConfigFile(path: string, managedPath = MANAGED_PATH): Promise<ConfigReading> {
  return checkSources(await readSources(path, managedPath));
}

/** Checks the text of a configuration file that is not written yet. Settles like {@link readConfigFile}. */
export async function checkConfigText(
  path: string,
  text: string,
  managedPath = MANAGED_PATH,
): Promise<ConfigReading> {
  return checkSources(await sourcesOfText(path, text, managedPath));
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

/** Returns what the two files say together, whether or not it is valid. */
export function layersOf({ own, managed }: ConfigSources): Layers {
  return checkLayers(own.content?.value, managed.content?.value, managed.path, homeDirectory());
}

/** Checks the content of both files first. The files they refer to are only checked when that is valid. */
async function checkSources(sources: ConfigSources): Promise<ConfigReading> {
  const { own, managed } = sources;
  const broken = [...own.problems, ...managed.problems];
  // Where one file cannot be used, what the other says is not known to be wrong.
  // That may be due to a directory, or to who is in a group: the file itself need not change for it to become usable.
  if (own.isUnusable || managed.isUnusable) return invalid(broken, true);
  const exists = own.content !== null;
  if (!exists && managed.content === null)
    return { ok: true, config: defaultConfig, exists, managed: null, warnings: [], overruled: [] };
  const layers = layersOf(sources);
  const overruled = locate(sources, layers.overruled);
  if (layers.config === null || broken.length > 0)
    return invalid([...broken, ...locate(sources, layers.issues), ...overruled]);
  const issues = await completeOutbound(sources, layers, layers.config.outbound);
  if (issues.length > 0) return invalid([...locate(sources, issues), ...overruled], true);
  const warnings = findWarnings(layers.config).map((warning) => withFile(layers, warning));
  return {
    ok: true,
    config: layers.config,
    exists,
    managed: managed.content && { path: managed.path, locked: layers.locked },
    warnings: shorten(locate(sources, warnings)),
    overruled: shorten(overruled),
  };
}

function invalid(problems: Problem[], isTransient = false): ConfigReading {
  return { ok: false, problems: shorten(problems.toSorted(byPlace)), isTransient };
}

/** The user's own file first. */
function byPlace(one: Problem, other: Problem): number {
  const order = Number(one.file !== undefined) - Number(other.file !== undefined);
  return order !== 0 ? order : (one.line ?? 0) - (other.line ?? 0);
}

function withFile({ own, settings }: Layers, issue: Issue): LayeredIssue {
  return { ...issue, isManaged: isFromManaged(issue.path, own, settings) };
}

/** An issue that no file seems to have is one of the file that exists. */
function locate({ own, managed }: ConfigSources, issues: readonly LayeredIssue[]): Problem[] {
  return issues
    .map((issue) => locateIn(issue.isManaged || own.content === null ? managed : own, issue))
    .filter((problem) => problem !== null);
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
async function completeOutbound(
  { own }: ConfigSources,
  layers: Layers,
  outbound: Outbound,
): Promise<LayeredIssue[]> {
  const issues: LayeredIssue[] = [];
  if (outbound.proxy !== null && outbound.proxy.credentials !== null) {
    const found = withFile(layers, { path: ["outbound", "httpsProxy"], message: PASSWORD });
    if (found.isManaged) issues.push({ ...found, message: SHARED_PASSWORD });
    else if (!own.isPrivate) issues.push({ ...found, hint: formatCommand(["chmod", "600", own.path]) });
  }
  const { caFile } = outbound;
  if (caFile === null) return issues;
  try {
    outbound.authorities = await readAuthorities(caFile);
  } catch (error) {
    const hint = fixOf(error);
    const message = `${caFile} cannot be used: ${reasonOf(error)}`;
    const issue = { path: ["outbound", "caFile"], message, ...(hint !== undefined && { hint }) };
    issues.push(withFile(layers, issue));
  }
  return issues;
}

const PASSWORD = "it contains a password, and others can read this file";
const SHARED_PASSWORD = "it contains a password, which every user of this machine could read; remove it here";
