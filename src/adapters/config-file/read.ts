import { constants } from "node:fs";
import type { Stats } from "node:fs";
import { open } from "node:fs/promises";
import { homedir } from "node:os";
import { checkConfig } from "../../core/config-check.ts";
import { writeProblem } from "../../core/config-problem.ts";
import type { Problem } from "../../core/config-problem.ts";
import { defaultConfig } from "../../core/config.ts";
import type { Config } from "../../core/config.ts";
import { Failure } from "../../core/failure.ts";
import { readJsonc } from "./jsonc.ts";

/** What a configuration file says, or everything that is wrong with it. */
export type ConfigReading =
  | { ok: true; config: Config; exists: boolean }
  | { ok: false; problems: Problem[] };

const WRITABLE_BY_ALL = 0o002;

/**
 * Reads and judges a configuration file. A missing file is no problem: the defaults then hold. Never rejects;
 * a file that cannot be read or trusted is a problem like the others.
 */
export async function readConfigFile(path: string): Promise<ConfigReading> {
  try {
    return judgeText(await readTrusted(path));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return { ok: true, config: defaultConfig, exists: false };
    const message = error instanceof Error ? error.message : String(error);
    return {
      ok: false,
      problems: [{ path: "", line: null, message: `the file cannot be used: ${message}` }],
    };
  }
}

/** Every problem of a configuration file as one failure, one line each. */
export function configFailure(path: string, problems: readonly Problem[]): Failure {
  const lines = problems.map((problem) => `\n  ${writeProblem(path, problem)}`);
  const message = `the configuration is not usable${lines.join("")}`;
  return new Failure(message, `correct it with: tollkeeper config edit --config ${path}`);
}

function judgeText(text: string): ConfigReading {
  const jsonc = readJsonc(text);
  const verdict = checkConfig(jsonc.value, homedir());
  if (verdict.ok && jsonc.problems.length === 0) return { ok: true, config: verdict.config, exists: true };
  const faults = verdict.ok ? [] : verdict.faults;
  const placed = faults.map(jsonc.place).filter((problem) => problem !== null);
  const problems = [...jsonc.problems, ...placed];
  return { ok: false, problems: problems.sort((one, other) => (one.line ?? 0) - (other.line ?? 0)) };
}

/** Asks the opened file, not its path, so that what was judged is what is read. */
async function readTrusted(path: string): Promise<string> {
  // Without O_NONBLOCK a named pipe would hold us until somebody writes to it.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    refuseDistrusted(path, await handle.stat());
    const text = await handle.readFile("utf8");
    // Opened up to others in the meantime, it may hold what they wrote.
    refuseDistrusted(path, await handle.stat());
    return text.replace(/^\uFEFF/, "");
  } finally {
    await handle.close();
  }
}

function refuseDistrusted(path: string, stats: Stats): void {
  const distrust = findDistrust(path, stats);
  if (distrust !== null) throw new Error(distrust);
}

/** Whoever can write the file decides where requests go (facts/threats.md E4). */
function findDistrust(path: string, stats: Stats): string | null {
  if (!stats.isFile()) return "it is not a regular file";
  const self = process.getuid?.();
  // Windows has neither owners nor mode bits to ask for.
  if (self === undefined) return null;
  if (stats.uid !== self && stats.uid !== 0)
    return `it belongs to another user; run \`chown ${self} ${path}\``;
  if ((stats.mode & WRITABLE_BY_ALL) !== 0) return `anybody may change it; run \`chmod go-w ${path}\``;
  return null;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
