import type { ToolIdentity } from "../identity/tool-identity.ts";
import type { Refusal } from "./refusal.ts";

export const OTHER_USER: Refusal = {
  code: "peer_not_allowed",
  problem: "this port belongs to another user",
  command: "tollkeeper config edit",
  advice: `choose another "listen.port" for a daemon of your own, or ask the port's owner to list your uid in "access.peerUid"`,
  closesConnection: true,
};

/** The refusal for a user whom `export.metrics.peerUid` admits. */
export const METRICS_ONLY: Refusal = {
  code: "peer_not_allowed",
  problem: "your user may only read metrics",
  command: "tollkeeper config edit",
  reason: "GET /_tollkeeper/metrics is all that it is admitted to",
  advice: `to use the proxy, ask the port's owner to list your uid in "access.peerUid"`,
  closesConnection: true,
};

/**
 * Token mode, and the request shows no registered token. `claimed` is who the request says it is, and `connectable` the tools
 * whose settings `tollkeeper connect` can write.
 */
export function tokenRequired({ tool, by }: ToolIdentity, connectable: ReadonlySet<string>): Refusal {
  const problem = "no local token";
  const reason = '"access" in the configuration requires one, and the request has none that is registered';
  const refusal = { code: "token_required", problem, reason } as const;
  if (connectable.has(tool)) {
    const advice = "to connect the tool again writes a token into its settings";
    return { ...refusal, advice, command: `tollkeeper connect ${tool}` };
  }
  return {
    ...refusal,
    advice:
      "use a token as the API key, for instance in ANTHROPIC_API_KEY or OPENAI_API_KEY; or start the program with: tollkeeper run -- COMMAND",
    command: `tollkeeper token add ${by === "unknown" ? "NAME" : tool}`,
  };
}
