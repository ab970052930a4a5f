import { isAbsolute } from "node:path";
import { findExecutable } from "../../../adapters/programs/executables.ts";
import { findExposedSource } from "../../../adapters/key-sources.ts";
import type { Exposure } from "../../../adapters/trust/exposure.ts";
import { formatConfigPath } from "../../../core/config/problem.ts";
import { describeKeySource } from "../../../core/secrets/key-source.ts";
import type { Evidence } from "../evidence.ts";
import { failure, ok, skipped, type Check, type Finding } from "../../../check/check.ts";
import type { KeyReading } from "../evidence/read-keys.ts";
import { commandWith, setKeyCommand } from "../fix-commands.ts";

/** Checks that every key the configuration names can be read. */
export const keysCheck: Check<Evidence> = {
  id: "keys",
  title: "keys",
  async run(evidence) {
    if ((await evidence.hardening()).refusal !== null)
      return [skipped('not checked: see "Node\'s settings"')];
    const config = await evidence.config();
    if (config === null) return [skipped("not checked: the configuration is invalid")];
    const keys = await evidence.keys();
    const own = Object.values(config.upstreams).filter(({ credential }) => credential === "client");
    if (keys.length + own.length === 0) return [ok("the sandbox needs none")];
    const { searchPath } = await evidence.service();
    const findings = keys.map(async (key) => {
      const exposure = key.failure?.code === "unsafe" ? await findExposedSource(key.ref.source) : null;
      if (exposure !== null) return exposedFinding(key, exposure);
      return hiddenCommandFinding(key, searchPath, evidence) ?? findingFor(key, evidence);
    });
    return [
      ...(await Promise.all(findings)),
      ...own.map(({ name }) => ok(`upstream ${name} takes the key that each tool sends`)),
    ];
  },
};

function exposedFinding({ ref, upstream }: KeyReading, { describe, command }: Exposure): Finding {
  const what = ref.source.kind === "command" ? "what its command runs" : "its file";
  return failure(`key "${ref.name}" for upstream ${upstream.name} is not used: ${describe(what)}`, command);
}

/** Reports a key command that this terminal finds and the service, which has another PATH, does not. */
function hiddenCommandFinding(
  { ref, upstream }: KeyReading,
  searchPath: string | null,
  evidence: Evidence,
): Finding | null {
  if (ref.source.kind !== "command" || searchPath === null) return null;
  const [name] = ref.source.argv;
  if (name.includes("/") || findProgram(name, searchPath) !== null) return null;
  const program = findProgram(name, evidence.env["PATH"] ?? "");
  if (program === null) return null;
  const what = `the service cannot find ${name}, which prints key "${ref.name}": it is ${program}, but the service searches ${searchPath}`;
  const path = formatConfigPath(["upstreams", upstream.name, "keySource", "command", 0]);
  return failure(what, commandWith(evidence, ["config", "set", path, program]));
}

/** A relative directory of a PATH is another one for the service. */
function findProgram(name: string, searchPath: string): string | null {
  const path = findExecutable(name, searchPath);
  return path !== null && isAbsolute(path) ? path : null;
}

function findingFor(key: KeyReading, evidence: Evidence): Finding {
  const { ref, upstream, failure: problem, skipReason } = key;
  if (ref.source.kind === "none") return ok(`upstream ${upstream.name} takes none`);
  const name = `key "${ref.name}" for upstream ${upstream.name}`;
  if (skipReason !== null) return skipped(`${name}: ${skipReason}`);
  if (problem === null) return ok(`${name} is stored (${describeKeySource(ref.source)})`);
  const isUnstored = ref.source.kind === "keychain" && problem.code === "missing";
  const fix = isUnstored ? undefined : problem.hint;
  return failure(problem.messageForOwner, fix ?? setKeyCommand(evidence, key));
}
