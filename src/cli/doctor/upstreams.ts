import { describeKeySource } from "../../core/secrets/key-source.ts";
import { countOf } from "../terminal/count-of.ts";
import type { KeyCheckFailure, ModelsAnswer } from "../keys/ask-for-models.ts";
import type { UpstreamAnswer } from "./ask-upstreams.ts";
import type { Evidence } from "./evidence.ts";
import { failure, ok, skipped, warning, type Check, type Finding } from "./finding.ts";
import type { KeyReading } from "./read-keys.ts";
import { setKeyCommand } from "../hints.ts";

/** Does every upstream answer, and take the key? */
export const upstreamsCheck: Check = {
  id: "upstreams",
  title: "upstreams",
  async look(evidence) {
    if (evidence.process().refusal !== null) return [skipped("not asked; see Node's settings")];
    const config = await evidence.config();
    if (config === null) return [skipped("not asked; the configuration is not good")];
    const names = Object.keys(config.upstreams);
    if (names.length === 0) return [ok("the sandbox is a part of tollkeeper")];
    const answers = await evidence.answers();
    const asked = new Set(answers.map(({ key }) => key.upstream.name));
    const unasked = names.filter((name) => !asked.has(name));
    return [
      ...answers.map((answer) => judgeAnswer(answer, evidence)),
      ...unasked.map((name) => skipped(`${name}: not asked, because its key could not be read`)),
    ];
  },
};

function judgeAnswer({ key, answer, failure: trouble }: UpstreamAnswer, evidence: Evidence): Finding {
  const { upstream, ref } = key;
  if (trouble !== null) return judgeTrouble(key, trouble, evidence);
  const said = answer === null ? "" : `, ${describe(answer)}`;
  return ok(`${upstream.name}: ${upstream.baseUrl} takes key "${ref.name}"${said}`);
}

function judgeTrouble(
  key: KeyReading,
  { code, message, hint }: KeyCheckFailure,
  evidence: Evidence,
): Finding {
  const what = `${key.upstream.name}: ${message}`;
  const fix = hint ?? "try again later";
  // An upstream may have no list of models, and do well without.
  if (code === "undecided") return warning(what, fix);
  if (code === "unreachable") return failure(what, fix);
  const { source } = key.ref;
  if (source.kind !== "keychain") return failure(what, `put another key there: ${describeKeySource(source)}`);
  return failure(what, `store another key: ${setKeyCommand(evidence, key)}`);
}

/** e.g. `12 models, 80 ms to connect (TLSv1.3) and 210 ms to answer`. */
function describe({ models, connectMs, answerMs, tls, proxy }: ModelsAnswer): string {
  const ways = [tls?.protocol, proxy === null ? undefined : `through ${proxy}`];
  const way = ways.filter((part) => part !== undefined).join(", ");
  const connect = `${Math.round(connectMs)} ms to connect${way === "" ? "" : ` (${way})`}`;
  const count = models === null ? "" : `${countOf(models, "model")}, `;
  return `${count}${connect} and ${Math.round(answerMs)} ms to answer`;
}
