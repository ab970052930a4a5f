import type { TestContext } from "node:test";
import { startConnectProxy, outboundThrough, startRemoteUpstream } from "../upstream/connect-proxy.ts";
import { startUpstream, type Script, type ScriptedUpstream } from "../upstream/scripted-upstream.ts";
import {
  startWebSocketUpstream,
  type UpgradeUpstream,
  type WebSocketOptions,
  type WebSocketUpstream,
} from "../upstream/websocket-upstream.ts";
import { startGate, type GateOptions, type TestGate } from "./gate.ts";
import { peersOf } from "./memory.ts";

/** The hosts of the services whose plans may pass. */
const HOSTS = ["api.anthropic.com", "chatgpt.com"];

/** A made-up login of each plan. */
export const CLAUDE_LOGIN = "sk-ant-oat01-sentinel-login-of-claude-4711-do-not-leak";
export const CHATGPT_LOGIN = "eyJsentinelhead.eyJsentinelbody4711.sentinelsignature";
export const CHATGPT_ACCOUNT = "acct-sentinel-4711";

/** Who pays with it, as records and limits of a test's gate name that: with a hash of the account. */
export const CHATGPT_PAYER = "plan:chatgpt/e6e59543";

/** The headers of each login. */
export const CLAUDE_HEADERS = { authorization: `Bearer ${CLAUDE_LOGIN}` };
export const CHATGPT_HEADERS = {
  authorization: `Bearer ${CHATGPT_LOGIN}`,
  "chatgpt-account-id": CHATGPT_ACCOUNT,
};

/** A gate with servers behind it. */
interface GateBefore {
  gate: TestGate;
  /** The host and port of each connection to a service. */
  asked(): string[];
}

interface PlanGate extends GateBefore {
  /** In place of both services. */
  service: ScriptedUpstream;
  /** The configured upstream, which takes a key. */
  upstream: ScriptedUpstream;
}

/** Starts a gate at which both plans may pass, with a server in place of both services behind a proxy. All end with the test. */
export async function startGateWithPlans(
  t: TestContext,
  script: Script,
  options: GateOptions = {},
): Promise<PlanGate> {
  const service = await startUpstream(t, script);
  const upstream = await startUpstream(t, script);
  return { service, upstream, ...(await startGateBefore(t, service, upstream, options)) };
}

/** Where Codex finds the WebSocket at its service. */
export const SOCKET_PATH = "/backend-api/codex/responses";

/** The same with WebSockets, at the service and at the configured upstream. */
export async function startGateWithPlanSockets(
  t: TestContext,
  { onMessage, headers, ...options }: WebSocketOptions & GateOptions = {},
): Promise<GateBefore & { service: WebSocketUpstream; upstream: WebSocketUpstream }> {
  const service = await startWebSocketUpstream(t, { onMessage, headers, path: SOCKET_PATH });
  const upstream = await startWebSocketUpstream(t, { onMessage, headers });
  const settings = { websocket: "auto", ...options.upstream } as const;
  return {
    service,
    upstream,
    ...(await startGateBefore(t, service, upstream, { ...options, upstream: settings })),
  };
}

/** Starts a gate at which both plans may pass, with this server in place of both services. */
export async function startGateBefore(
  t: TestContext,
  service: Pick<UpgradeUpstream, "baseUrl">,
  upstream: { baseUrl: string },
  options: GateOptions = {},
): Promise<GateBefore> {
  const remote = await startRemoteUpstream(t, new URL(service.baseUrl), HOSTS);
  const proxy = await startConnectProxy(t, { to: remote.port });
  const gate = await startGate(t, upstream.baseUrl, {
    peers: peersOf(process.getuid?.() ?? null),
    ...options,
    config: { plans: ["claude-code", "codex"], outbound: outboundThrough(proxy, remote), ...options.config },
  });
  const asked = () => proxy.heads.map((head) => head.split(" ")[1] ?? "");
  return { gate, asked };
}
