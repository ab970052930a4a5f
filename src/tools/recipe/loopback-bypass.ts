// Libraries read HTTP_PROXY for requests to this machine, too: Python's urllib and requests, curl, undici. Such a request would reach the
// proxy in clear, prompt and all, and leave no record. They agree on NO_PROXY for exceptions, some in lower case.

/** The hosts that are reached without a proxy, as NO_PROXY lists them. */
export const LOOPBACK_HOSTS = "127.0.0.1,localhost,::1";

/** The two spellings. Where both are set, some libraries prefer the one and some the other. */
export const BYPASS_VARIABLES = ["NO_PROXY", "no_proxy"] as const;

/** Returns both variables with the hosts that they have in `env`, and this machine. */
export function bypassVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const [upper = "", lower = ""] = BYPASS_VARIABLES.map((name) => env[name] ?? "");
  return {
    NO_PROXY: addLoopback(upper === "" ? lower : upper),
    no_proxy: addLoopback(lower === "" ? upper : lower),
  };
}

/** True when a program with this environment reaches this machine without a proxy, however it spells the variable. */
export function bypassesLoopback(env: Readonly<Record<string, string | undefined>>): boolean {
  const set = BYPASS_VARIABLES.map((name) => env[name] ?? "").filter((value) => value !== "");
  return set.length > 0 && set.every((value) => isEverything(value) || split(value).includes("127.0.0.1"));
}

function addLoopback(list: string): string {
  if (isEverything(list)) return list;
  const hosts = split(list);
  const missing = LOOPBACK_HOSTS.split(",").filter((host) => !hosts.includes(host));
  return [...hosts, ...missing].join(",");
}

function isEverything(list: string): boolean {
  return split(list).includes("*");
}

function split(list: string): string[] {
  return list.split(/[,\s]+/).filter((host) => host !== "");
}
