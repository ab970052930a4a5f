import { sanitizeText } from "../../../core/config/problem.ts";
import { detectKey } from "../../../core/secrets/detect-key.ts";
import type { Secret } from "../../../core/secrets/secret.ts";
import { pluralize, displayPath, displayLocation } from "../../terminal/format.ts";
import type { Evidence } from "../evidence.ts";
import { findKeys, type FoundKey } from "../../dotfiles/find-keys.ts";
import { failure, ok, skipped, warning, type Check, type Finding } from "../../../check/check.ts";
import type { Dotfile } from "../../dotfiles/read.ts";
import type { KeyReading } from "../evidence/read-keys.ts";
import { commandFor, setKeyCommand } from "../fix-commands.ts";

/** Checks that no key is left in the environment or in files of shells and tools. Reports locations, never values. */
export const leftoverKeysCheck: Check<Evidence> = {
  id: "leftover-keys",
  title: "leftover keys",
  async run(evidence) {
    const keys = await evidence.keys();
    const own = keys.flatMap(({ secret }) => (secret === null ? [] : [secret]));
    const sources = new Set(keys.flatMap(({ ref }) => (ref.source.kind === "file" ? [ref.source.path] : [])));
    // A key file that the configuration names is where its key belongs.
    const files = (await evidence.dotfiles()).filter(({ path }) => !sources.has(path));
    const keep = adviseToKeep(keys, evidence);
    const findings = [
      ...keysInEnvironment(evidence, own, keep),
      ...files.flatMap((file) => keysInFile(file, own, keep, evidence.home)),
    ];
    const searched = `the environment and ${pluralize(files.length, "file")} of shells and tools`;
    const unread = files.flatMap(({ path, problem }) => {
      return problem === null ? [] : [skipped(`${displayPath(path, evidence.home)}: ${problem}`)];
    });
    return [...(findings.length > 0 ? findings : [ok(`none found in ${searched}`)]), ...unread];
  },
};

/** Returns how a key that is not ours comes to tollkeeper. Never with a command that would replace one that is stored. */
function adviseToKeep(keys: readonly KeyReading[], evidence: Evidence): string {
  const missing = keys.find(
    ({ ref, failure: problem }) => ref.source.kind === "keychain" && problem?.code === "missing",
  );
  if (missing === undefined) {
    return `to store it in tollkeeper, first configure its upstream with: ${commandFor(evidence, "config edit")}`;
  }
  const { name, origin } = missing.upstream;
  return `if it is the key of upstream ${name} (${origin}), store it with: ${setKeyCommand(evidence, missing)}`;
}

function keysInEnvironment({ env }: Evidence, own: readonly Secret[], keep: string): Finding[] {
  return Object.entries(env).flatMap(([name, value = ""]) => {
    const verdict = detectKey(name, value, own);
    if (verdict === null) return [];
    const fix = `unset ${sanitizeText(name)}, and remove it where it is set`;
    return [leftoverFinding(displayLocation("the environment", name), verdict.isOwn, fix, keep)];
  });
}

function keysInFile(file: Dotfile, own: readonly Secret[], keep: string, home: string): Finding[] {
  const path = displayPath(file.path, home);
  return findKeys(file.text, own).map(({ line, name, isOwn }) => {
    const where = displayLocation(`${path}:${line}`, name);
    return leftoverFinding(where, isOwn, fixFor(file, path, line), keep);
  });
}

/** A line of a shell file can be removed; a tool may insist on some value. */
function fixFor({ kind }: Dotfile, path: string, line: FoundKey["line"]): string {
  if (kind === "shell") return `delete line ${line} of ${path}`;
  return `replace it with "placeholder" in line ${line} of ${path}`;
}

/** A key of ours is recognized with certainty and must not be elsewhere; another key may be there on purpose. */
function leftoverFinding(where: string, isOwn: boolean, fix: string, keep: string): Finding {
  if (isOwn) return failure(`${where} contains a key that is also stored in tollkeeper`, fix);
  return warning(`${where} contains what looks like an API key`, `${keep}; then ${fix}`);
}
