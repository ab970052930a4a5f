import { missingIn, type TrustVariable } from "../../../core/config/trust-variables.ts";
import { formatCommand } from "../../../core/text/shell-words.ts";
import { trustHere } from "../../keys/test-as-daemon.ts";
import { describeKeySource } from "../../../core/secrets/key-source.ts";
import { pluralize } from "../../terminal/format.ts";
import type { KeyCheckFailure, KeyCheck } from "../../../proxy/upstream/fetch-models.ts";
import type { UpstreamProbe } from "../evidence/probe-upstreams.ts";
import type { Evidence } from "../evidence.ts";
import { failure, ok, skipped, warning, type Check, type Finding } from "../../../check/check.ts";
import type { DaemonStatus } from "../../../daemon/status.ts";
import type { KeyReading } from "../evidence/read-keys.ts";
import { commandWith, setKeyCommand } from "../fix-commands.ts";

/** Checks that every upstream responds and accepts its key. */
export const upstreamsCheck: Check<Evidence> = {
  id: "upstreams",
  title: "upstreams",
  async run(evidence) {
    if ((await evidence.hardening()).refusal !== null)
      return [skipped('not checked: see "Node\'s settings"')];
    const config = await evidence.config();
    if (config === null) return [skipped("not checked: the configuration is invalid")];
    const names = Object.keys(config.upstreams);
    const own = Object.values(config.upstreams).filter(({ credential }) => credential === "client");
    if (names.length === 0) return [ok("the sandbox is built in")];
    const { probes, trust } = await evidence.upstreams();
    const asked = new Set(probes.map(({ key }) => key.upstream.name));
    const passing = new Set(own.map(({ name }) => name));
    const unasked = names.filter((name) => !asked.has(name) && !passing.has(name));
    const { status } = await evidence.daemon();
    return [
      ...probes.map((probe) => findingFor(probe, evidence)),
      ...unasked.map((name) => skipped(`${name}: not checked, because its key could not be read`)),
      ...own.map(({ name }) => skipped(`${name}: not checked, because only tools have a key for it`)),
      ...(trust === null ? ignoredFindings() : await borrowedFindings(trust, evidence)),
      ...(status?.upstreams ?? []).flatMap((upstream) => daemonFindings(upstream, probes, evidence)),
    ];
  },
};

/** Without a daemon this command asks as the service would, which has none of this shell's variables. */
function ignoredFindings(): Finding[] {
  const names = trustHere().map(({ name }) => name);
  if (names.length === 0) return [];
  return [
    skipped(
      `no daemon runs with this configuration, so this command asked as the service would: without ${names.join(" and ")} of this shell`,
    ),
  ];
}

/** A daemon that was started by hand may trust what its shell said. The next start may be that of a service. */
async function borrowedFindings(trust: readonly TrustVariable[], evidence: Evidence): Promise<Finding[]> {
  const { status } = await evidence.daemon();
  const { state } = await evidence.service();
  const [borrowed] = missingIn(trustHere(), trust);
  if (borrowed === undefined || status?.pid === state?.pid) return [];
  const { name, path } = borrowed;
  const what = `the daemon has ${name} from the shell that started it; started as a service, or from this shell, it would not trust the same authorities`;
  return [warning(what, formatCommand(["tollkeeper", "config", "set", "outbound.caFile", path ?? "FILE"]))];
}

/** What fails for the daemon though it works from here: other requests, another key in memory, another network. */
function daemonFindings(
  { name, failing }: DaemonStatus["upstreams"][number],
  probes: readonly UpstreamProbe[],
  evidence: Evidence,
): Finding[] {
  const probe = probes.find(({ key }) => key.upstream.name === name);
  if (failing === null || (probe !== undefined && probe.failure !== null)) return [];
  const what = `${name}: for the daemon, ${failing.summary}`;
  if (failing.kind === "key_refused" && probe !== undefined)
    return [failure(what, `replace the key with: ${setKeyCommand(evidence, probe.key)} --replace`)];
  const command = commandWith(evidence, ["key", "test", "--upstream", name]);
  return [warning(what, `it works from here; test it once more with: ${command}`)];
}

function findingFor({ key, response, failure: problem }: UpstreamProbe, evidence: Evidence): Finding {
  const { upstream, ref } = key;
  if (problem !== null) return failureFinding(key, problem, evidence);
  const details = response === null ? "" : `: ${describe(response)}`;
  const what = ref.source.kind === "none" ? "responds without a key" : `accepts key "${ref.name}"`;
  return ok(`${upstream.name}: ${upstream.baseUrl} ${what}${details}`);
}

function failureFinding(
  key: KeyReading,
  { code, message, hint }: KeyCheckFailure,
  evidence: Evidence,
): Finding {
  const what = `${key.upstream.name}: ${message}`;
  const fix = hint ?? "try again later";
  // An upstream that has no list of models may work all the same.
  if (code === "undecided") return warning(what, fix);
  if (code === "unreachable" || code === "web_page" || code === "redirect") return failure(what, fix);
  const { source } = key.ref;
  if (source.kind !== "keychain") return failure(what, `replace the key in: ${describeKeySource(source)}`);
  return failure(what, `replace the key with: ${setKeyCommand(evidence, key)}`);
}

/** Returns e.g. `12 models, connected in 80 ms (TLSv1.3), response in 210 ms`. */
function describe({ models, connectMs, responseMs, tls, proxy }: KeyCheck): string {
  const parts = [tls?.protocol, proxy === null ? undefined : `through ${proxy}`];
  const via = parts.filter((part) => part !== undefined).join(", ");
  const connect = `connected in ${Math.round(connectMs)} ms${via === "" ? "" : ` (${via})`}`;
  const count = models === null ? "" : `${pluralize(models, "model")}, `;
  return `${count}${connect}, response in ${Math.round(responseMs)} ms`;
}
