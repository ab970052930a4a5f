import { formatConfigPath } from "../config/problem.ts";
import { formatCommand } from "../text/shell-words.ts";
import type { Refusal } from "./refusal.ts";

/** What of an upstream these refusals say. */
interface Named {
  name: string;
  origin: string;
}

/** The refusal of a request without a key of the tool's own, for an upstream that takes nothing else. No key of ours is put in its place. */
export function noOwnKey({ name, origin }: Named, fault: string): Refusal {
  return {
    code: "client_key",
    problem: `upstream "${name}" takes only a key that the tool sends`,
    reason: fault,
    advice: `give the tool its key for ${origin}; to have a stored key pay for all tools, use the command`,
    command: letStoredKeyPay(name),
  };
}

/**
 * The refusal of a tool's own key that could be for another service: several of those that would serve the request pass such keys.
 * @param tool "" for any tool
 */
export function unclearOwnKey(tool: string, { name }: Named, others: readonly string[]): Refusal {
  return {
    code: "client_key",
    problem: `it is not clear for which upstream the tool's own key is: ${[name, ...others].join(" or ")}`,
    reason: "all of them serve this request, and pass what the tool sends",
    advice: "name the one that the tool may use",
    command: formatCommand([
      "tollkeeper",
      "config",
      "set",
      formatConfigPath(["tools", tool === "" ? "TOOL" : tool, "upstreams"]),
      JSON.stringify([name]),
    ]),
  };
}

function letStoredKeyPay(upstream: string): string {
  return formatCommand([
    "tollkeeper",
    "config",
    "unset",
    formatConfigPath(["upstreams", upstream, "credential"]),
  ]);
}
