import { describeKeySource } from "../../core/secrets/key-source.ts";
import type { Evidence } from "./evidence.ts";
import { failure, ok, skipped, type Check, type Finding } from "./finding.ts";
import type { KeyReading } from "./read-keys.ts";
import { setKeyCommand } from "../hints.ts";

/** Is every key there that the configuration names? */
export const keysCheck: Check = {
  id: "keys",
  title: "keys",
  async look(evidence) {
    if (evidence.process().refusal !== null) return [skipped("not looked for; see Node's settings")];
    if ((await evidence.config()) === null) return [skipped("not looked for; the configuration is not good")];
    const keys = await evidence.keys();
    if (keys.length === 0) return [ok("the sandbox needs none")];
    return keys.map((key) => judgeKey(key, evidence));
  },
};

function judgeKey(key: KeyReading, evidence: Evidence): Finding {
  const { ref, upstream, failure: trouble, passedOver } = key;
  const name = `"${ref.name}" for upstream ${upstream.name}`;
  if (passedOver !== null) return skipped(`${name}: ${passedOver}`);
  if (trouble === null) return ok(`${name} is there (${describeKeySource(ref.source)})`);
  const isToBeStored = ref.source.kind === "keychain" && trouble.code === "missing";
  const fix = isToBeStored ? undefined : trouble.hint;
  return failure(trouble.messageForOwner, fix ?? setKeyCommand(evidence, key));
}
