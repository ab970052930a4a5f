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

/** What browsers show or scripts read of ours, under a name in `listen.allowedHosts` (SECURITY.md A16). */
export const LOOPBACK_ONLY: Refusal = {
  code: "host_not_allowed",
  problem: "dashboard and metrics are not available under this host name",
  reason: "other web pages could read them there",
  advice: `use 127.0.0.1, localhost or [::1]`,
  command: "tollkeeper dashboard",
};

/** A WebSocket for a web page. No origin may be listed for that: what a page sends there spends. */
export const NO_PAGE: Refusal = {
  code: "origin_not_allowed",
  problem: "web pages may not open WebSockets",
  reason: "the handshake has a header that only browsers send",
  command: "tollkeeper check",
};

/** What is ours, to a browser that does not say which page requests it (SECURITY.md A17). */
export const OLD_BROWSER: Refusal = {
  code: "browser_not_allowed",
  problem: "this browser is too old for the dashboard and metrics",
  reason: "it sends no Fetch Metadata, so it does not say which page asks",
  advice: "use Chrome 76, Firefox 90, Safari 16.4 or newer",
  command: "tollkeeper usage",
};

/** What requires a local token: the setting `access`, or a host name in `listen.allowedHosts` that is none of this machine's own. */
export type TokenRule = "access" | "listed name";

const TOKEN_REASONS: Record<TokenRule, string> = {
  access: '"access" in the configuration requires one, and the request has no valid one',
  "listed name":
    'a host name in "listen.allowedHosts" requires one, because web pages can use such a name, too; the request has no valid one',
};

/**
 * A rule requires a token, and the request shows no registered one. `claimed` is who the request says it is, and `connectable` the tools
 * whose settings `tollkeeper connect` can write, with a token if `access` requires it.
 */
export function tokenRequired(
  { tool, by }: ToolIdentity,
  connectable: ReadonlySet<string>,
  rule: TokenRule,
): Refusal {
  const problem = "no local token";
  const refusal = { code: "token_required", problem, reason: TOKEN_REASONS[rule] } as const;
  if (rule === "access" && connectable.has(tool)) {
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
