import { describeKeySource } from "../../../core/secrets/key-source.ts";
import type { Evidence } from "../evidence.ts";
import { failure, ok, skipped, type Check, type Finding } from "../../../check/check.ts";
import type { KeyReading } from "../evidence/read-keys.ts";
import { setKeyCommand } from "../fix-commands.ts";

/** Checks that every key the configuration names can be read. */
export const keysCheck: Check<Evidence> = {
  id: "keys",
  title: "keys",
  async run(evidence) {
    if ((await evidence.hardening()).refusal !== null)
      return [skipped("not looked for; see Node's settings")];
    if ((await evidence.config()) === null) return [skipped("not looked for; the configuration is not good")];
    const keys = await evidence.keys();
    if (keys.length === 0) return [ok("the sandbox needs none")];
    return keys.map((key) => findingFor(key, evidence));
  },
};

function findingFor(key: KeyReading, evidence: Evidence): Finding {
  const { ref, upstream, failure: problem, skipReason } = key;
  const name = `"${ref.name}" for upstream ${upstream.name}`;
  if (skipReason !== null) return skipped(`${name}: ${skipReason}`);
  if (problem === null) return ok(`${name} is there (${describeKeySource(ref.source)})`);
  const isUnstored = ref.source.kind === "keychain" && problem.code === "missing";
  const fix = isUnstored ? undefined : problem.hint;
  return failure(problem.messageForOwner, fix ?? setKeyCommand(evidence, key));
}
