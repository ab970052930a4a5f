import { formatConfigPath } from "../config/problem.ts";
import { isLive } from "../http/routes.ts";
import { formatCommand } from "../text/shell-words.ts";
import { noPlan } from "../refusals/plans.ts";
import { noWebSocket } from "../refusals/routes.ts";
import type { Refusal } from "../refusals/refusal.ts";
import { chooseForSocket, choosePlan, type Choice } from "./choose-upstream.ts";
import { judgeLogin } from "./decide.ts";
import type { AskedRequest, Standing } from "./decision.ts";
import { judgeOwnKey } from "./own-keys.ts";
import { judgePlanned } from "./plans.ts";
import type { ApiRequest, RefusedRequest, SocketRequest } from "./resolve-route.ts";
import type { Settings } from "./settings.ts";

/** The handshake of a WebSocket as far as the decision depends on it. */
export interface AskedHandshake extends Omit<AskedRequest, "request"> {
  request: SocketRequest;
}

/** Where the messages of a WebSocket are to go. */
interface Accepted {
  kind: "accept";
  choice: Choice;
}

type HandshakeDecision = Accepted | { kind: "refuse"; refusal: Refusal } | { kind: "need" };

/**
 * Decides on the handshake of a WebSocket: by the pauses, the client's token and the tool's upstreams, or the login of its plan, in this
 * order. It asks for the process that may name the tool, and is then called again. What depends on a model or on what is spent is decided
 * for each message, by `decide`. A WebSocket has one upstream for as long as it is open, so where the model decides that, or another one
 * could be asked, or the model is to be replaced, there is none: the tool goes on with POST.
 */
export function decideHandshake(
  { request, headers, client }: AskedHandshake,
  settings: Settings,
  standing: Pick<Standing, "pauses">,
): HandshakeDecision {
  if ((settings.namesTools || standing.pauses.namesTools) && client.isProvisional) return { kind: "need" };
  const refusal = client.refusal ?? standing.pauses.judge(client.tool, settings.config);
  if (refusal !== null) return { kind: "refuse", refusal };
  const post = asPost(request, settings);
  if (post.kind === "refusal") return { kind: "refuse", refusal: post.refusal };
  if (post.plan !== null) {
    const other = judgePlanned(post.plan.plan, { headers, client }, settings);
    return other === null
      ? { kind: "accept", choice: choosePlan(post, post.plan) }
      : { kind: "refuse", refusal: other };
  }
  const choice = chooseForSocket(post, settings.destinationsFor(client.tool), settings);
  if (choice === null) return decline("several upstreams share the models");
  if ("code" in choice) return { kind: "refuse", refusal: choice };
  const obstacle = findObstacle(choice, client.tool, settings);
  if (obstacle === null) {
    const login =
      judgeLogin(choice, headers, settings) ?? judgeOwnKey(choice, headers, client.tool, post, settings);
    return login === null ? { kind: "accept", choice } : { kind: "refuse", refusal: login };
  }
  const { name, websocket } = choice.upstream;
  return decline(obstacle, websocket === false ? switchOn(name) : undefined);
}

/** Returns the request that each message on a WebSocket stands for. These settings may no longer have its plan. */
export function asPost(
  request: SocketRequest,
  { plans }: Pick<Settings, "plans">,
): ApiRequest | RefusedRequest {
  if (request.plan === null) return { ...request, kind: "api" };
  const { tool } = request.plan.plan;
  const plan = plans.get(tool);
  return plan === undefined
    ? { kind: "refusal", mark: request.mark, refusal: noPlan(tool) }
    : { ...request, kind: "api", plan: { ...plan, key: request.plan.key } };
}

/** Says why messages of a tool cannot go to an upstream on a WebSocket; null where they can. What the tool itself pays goes on as it is. */
export function findObstacle(
  { account, upstream, fallbacks, route }: Choice,
  tool: string,
  settings: Settings,
): string | null {
  if (upstream.websocket === false) return `"websocket" is off for upstream "${upstream.name}"`;
  if (fallbacks.length > 0) return `upstream "${upstream.name}" has a fallback`;
  // The Live API names its model once, and an alias is put there.
  if (isLive(route)) return null;
  return account !== "key" || settings.aliasesFor(tool) === null ? null : "the tool has aliases for models";
}

/** Returns the command that lets messages for an upstream go on a WebSocket. */
function switchOn(upstream: string): string {
  const path = formatConfigPath(["upstreams", upstream, "websocket"]);
  return formatCommand(["tollkeeper", "config", "set", path, "auto"]);
}

function decline(reason: string, command?: string): { kind: "refuse"; refusal: Refusal } {
  return { kind: "refuse", refusal: noWebSocket("there is no WebSocket here", reason, command) };
}
