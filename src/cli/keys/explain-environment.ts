import { resolve } from "node:path";
import type { Outbound } from "../../core/config/outbound.ts";
import { listTrustVariables, missingIn, type TrustVariable } from "../../core/config/trust-variables.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import type { KeyCheckFailure } from "../../proxy/upstream/fetch-models.ts";

/** Variables that send the https requests of most programs through a proxy. */
const PROXIES = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/**
 * Says what is set in this shell and not for the daemon, if that may be why the daemon cannot reach an upstream, and what to type.
 * @param there what the daemon trusts because of its environment
 * @returns null when nothing in this shell explains it
 */
export function explainEnvironment(
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
