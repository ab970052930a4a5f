import { homedir } from "node:os";
import { checkConfig } from "../../core/config/check.ts";
import { writeProblem } from "../../core/config/problem.ts";
import type { Fault, Problem } from "../../core/config/problem.ts";
import { defaultConfig } from "../../core/config/config.ts";
import type { Config } from "../../core/config/config.ts";
import { Failure } from "../../core/failure.ts";
import type { Outbound } from "../../core/config/outbound.ts";
import { hasCode, messageOf } from "../../core/thrown.ts";
import { readAuthorities } from "./authorities.ts";
import { readJsonc } from "./jsonc.ts";
import { readTrusted, type TrustedFile } from "./trusted-file.ts";

/** What a configuration file says, or everything that is wrong with it. */
export type ConfigReading =
  | { ok: true; config: Config; exists: boolean }
  | { ok: false; problems: Problem[] };

/**
 * Reads and judges a configuration file. A missing file is no problem: the defaults then hold. Never rejects;
 * a file that cannot be read or trusted is a problem like the others.
 */
export async function readConfigFile(path: string): Promise<ConfigReading> {
  try {
    return await judgeFile(path, await readTrusted(path));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return { ok: true, config: defaultConfig, exists: false };
    const message = messageOf(error);
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

/** Judges what is written, then what that refers to: the latter only where the former is good. */
async function judgeFile(path: string, { text, isPrivate }: TrustedFile): Promise<ConfigReading> {
  const jsonc = readJsonc(text);
  const verdict = checkConfig(jsonc.value, homedir());
  const faults = verdict.ok
    ? await completeOutbound(path, verdict.config.outbound, isPrivate)
    : verdict.faults;
  if (verdict.ok && faults.length === 0 && jsonc.problems.length === 0)
    return { ok: true, config: verdict.config, exists: true };
  const placed = faults.map(jsonc.place).filter((problem) => problem !== null);
  const problems = [...jsonc.problems, ...placed];
  return { ok: false, problems: problems.sort((one, other) => (one.line ?? 0) - (other.line ?? 0)) };
}

/** Puts the authorities in, and holds a password to a file that only its owner can read. `outbound` is fresh. */
async function completeOutbound(path: string, outbound: Outbound, isPrivate: boolean): Promise<Fault[]> {
  const faults: Fault[] = [];
  if (!isPrivate && outbound.proxy !== null && outbound.proxy.credentials !== null) {
    const message = `it holds a password, and others can read this file; run \`chmod 600 ${path}\``;
    faults.push({ path: ["outbound", "httpsProxy"], message });
  }
  if (outbound.caFile === null) return faults;
  try {
    outbound.authorities = await readAuthorities(outbound.caFile);
  } catch (error) {
    const message = `${outbound.caFile} cannot be used: ${messageOf(error)}`;
    faults.push({ path: ["outbound", "caFile"], message });
  }
  return faults;
}
