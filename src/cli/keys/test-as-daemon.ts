import { resolve } from "node:path";
import { rootCertificates } from "node:tls";
import { readAuthorities } from "../../adapters/config-file.ts";
import type { Outbound } from "../../core/config/outbound.ts";
import { listTrustVariables, type TrustVariable, missingIn } from "../../core/config/trust-variables.ts";
import { Failure } from "../../core/failure.ts";
import type { ConfiguredKey } from "../../core/policy/configured-keys.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import type { KeyTestFailure, KeyTests } from "../../daemon/control/test-keys.ts";
import { askRunning } from "../../daemon/running-daemon.ts";
import { fetchModels, KeyCheckFailure, type KeyCheck } from "../../proxy/upstream/fetch-models.ts";
import { attempt } from "../attempt.ts";

/** More than the daemon waits for its keychain and for an upstream. */
const LIMIT_MS = 60_000;

/**
 * Has the running daemon test keys that it reads by itself: what it reaches and trusts counts, not what this shell does. No key is sent
 * to it or by it.
 * @param configFile the configuration that the question is about
 * @param key one key; undefined for all that are configured
 * @returns null when no daemon runs with this configuration, or it is of a build that does not know the question
 */
export async function testByDaemon(
  configFile: string,
  key?: { upstream: string; key: string },
): Promise<KeyTests | null> {
  const query = { config: configFile, ...key };
  const { value: tests } = await attempt(Failure, () => askRunning("test-keys", query, LIMIT_MS));
  return tests?.configFile === configFile ? tests : null;
}

/** What this process trusts because of its environment. */
export function trustHere(): TrustVariable[] {
  return listTrustVariables(process.env, process.execArgv);
}

/**
 * Tests a key in this process, as a service would: with the network settings of the configuration, and without the variables of this
 * shell. For a key that is not stored yet, and for when no daemon runs.
 * @throws KeyCheckFailure unless the upstream accepts the key; its hint names what only this shell has
 */
export async function testAsService(
  { upstream, ref }: Pick<ConfiguredKey, "upstream" | "ref">,
  secret: Secret,
  outbound: Outbound,
): Promise<KeyCheck> {
  try {
    return await fetchModels(upstream, secret, await withoutShell(outbound), ref);
  } catch (error) {
    if (!(error instanceof KeyCheckFailure)) throw error;
    const { code, message, likelyBaseUrl, isUntrusted } = error;
    const hint = explainEnvironment(error, [], outbound, process.env) ?? error.hint ?? "";
    throw new KeyCheckFailure(code, message, hint, likelyBaseUrl, isUntrusted);
  }
}

/** Returns the failure that the daemon has reported, with a hint that names what only this shell has. */
export function toFailure(
  failure: KeyTestFailure,
  trust: readonly TrustVariable[],
  outbound: Outbound,
): Failure {
  const { code, message, likelyBaseUrl, isUntrusted } = failure;
  if (code === "no_key") return new Failure(message, failure.hint ?? undefined);
  const hint = explainEnvironment(failure, trust, outbound, process.env) ?? failure.hint ?? "";
  return new KeyCheckFailure(code, message, hint, likelyBaseUrl, isUntrusted);
}

/** An explicit list of authorities is used in place of what the environment adds, and Node's own are part of each list. */
async function withoutShell(outbound: Outbound): Promise<Outbound> {
  if (trustHere().length === 0) return outbound;
  const { caFile } = outbound;
  const configured = caFile === null ? [] : await readAuthorities(caFile, "");
  return { ...outbound, authorities: [...rootCertificates.slice(0, 1), ...configured] };
}

/** Variables that send the https requests of most programs through a proxy. */
const PROXIES = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/**
 * Says what is set in this shell and not for the daemon, if that may be why the daemon cannot reach an upstream, and what to type.
 * @param there what the daemon trusts because of its environment
 * @returns null when nothing in this shell explains it
 */
function explainEnvironment(
  { code, isUntrusted }: { code: string } & Pick<KeyCheckFailure, "isUntrusted">,
  there: readonly TrustVariable[],
  outbound: Outbound,
  env: NodeJS.ProcessEnv,
): string | null {
  if (isUntrusted) return explainTrust(missingIn(there, listTrustVariables(env, process.execArgv)), outbound);
  return code === "unreachable" && outbound.proxy === null ? explainProxy(env) : null;
}

function explainTrust(missing: readonly TrustVariable[], { caFile }: Outbound): string | null {
  const [found] = missing.toSorted((a, b) => Number(a.path === null) - Number(b.path === null));
  if (found === undefined) return null;
  const what = `${found.name} is set in this shell, and not for the daemon`;
  if (found.path === null || found.name === "SSL_CERT_DIR")
    return `${what}; to have the daemon trust that authority, too, type its file after: tollkeeper config set outbound.caFile`;
  const file = resolve(found.path);
  if (caFile === null)
    return `${what}; to have the daemon trust that authority, too, type: ${setCommand("outbound.caFile", file)}`;
  return `${what}; to have the daemon trust that authority, too, add it to the file of "outbound.caFile" with: cat ${formatCommand([file])} >> ${formatCommand([caFile])}`;
}

function explainProxy(env: NodeJS.ProcessEnv): string | null {
  const name = PROXIES.find((one) => (env[one] ?? "") !== "");
  if (name === undefined) return null;
  const what = `${name} is set in this shell, but tollkeeper uses no proxy of the environment`;
  const text = env[name] ?? "";
  const address = text.includes("://") ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || url.username !== "" || url.password !== "")
    return `${what}; to use that proxy, write its address into "outbound.httpsProxy" with: tollkeeper config edit`;
  return `${what}; to use that proxy, type: ${setCommand("outbound.httpsProxy", url.origin)}`;
}

function setCommand(path: string, value: string): string {
  return formatCommand(["tollkeeper", "config", "set", path, value]);
}
