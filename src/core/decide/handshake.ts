import { formatConfigPath } from "../config/problem.ts";
import { withoutCollection } from "../http/gemini/model-path.ts";
import { isLive } from "../http/routes.ts";
import { formatCommand } from "../text/shell-words.ts";
import { noPlan } from "../refusals/plans.ts";
import { noWebSocket } from "../refusals/routes.ts";
import type { Refusal } from "../refusals/refusal.ts";
import { chooseNamed } from "./choose.ts";
import {
  chooseByRoute,
  chooseForSocket,
  choosePlan,
  type Choice,
  type ConfiguredChoice,
} from "./choose-upstream.ts";
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

/** What has to be known first: the process that may name the tool, or the client's first message, which names the model of all others. */
interface HandshakeNeed {
  kind: "need";
  what: "process" | "setup";
}

type HandshakeDecision = Accepted | { kind: "refuse"; refusal: Refusal } | HandshakeNeed;

/**
 * Decides on the handshake of a WebSocket: by the pauses, the client's token and the tool's upstreams, or the login of its plan, in this
 * order. It asks for the process that may name the tool, and is then called again. What depends on a model or on what is spent is decided
 * for each message, by `decide`. A WebSocket has one upstream for as long as it is open, so where the model decides that, or another one
 * could be asked, or the model is to be replaced, there is none: the tool goes on with POST. The Live API has no POST. There the setup
 * decides.
 * @param model that of the setup; null before it has come
 */
export function decideHandshake(
  { request, headers, client }: AskedHandshake,
  settings: Settings,
  standing: Pick<Standing, "pauses">,
  model: string | null,
): HandshakeDecision {
  if ((settings.namesTools || standing.pauses.namesTools) && client.isProvisional)
    return { kind: "need", what: "process" };
  const paused = client.refusal ?? standing.pauses.judge(client.tool, settings.config);
  if (paused !== null) return { kind: "refuse", refusal: paused };
  const post = asPost(request, settings);
  if (post.kind === "refusal") return { kind: "refuse", refusal: post.refusal };
  if (post.plan !== null) {
    const other = judgePlanned(post.plan.plan, { headers, client }, settings);
    return other === null
      ? { kind: "accept", choice: choosePlan(post, post.plan) }
      : { kind: "refuse", refusal: other };
  }
  const choice = chooseForModel(post, client.tool, settings, model);
  if (choice === null) {
    const hopeless = isLive(post.match.route)
      ? findCommonObstacle(post, client.tool, settings)
      : declined("several upstreams share the models");
    return hopeless === null ? { kind: "need", what: "setup" } : { kind: "refuse", refusal: hopeless };
  }
  if ("code" in choice) return { kind: "refuse", refusal: choice };
  const refusal =
    findObstacle(choice, client.tool, settings) ??
    judgeLogin(choice, headers, settings) ??
    judgeOwnKey(choice, headers, client.tool, post, settings);
  return refusal === null ? { kind: "accept", choice } : { kind: "refuse", refusal };
}

/** Chooses the upstream of a WebSocket; null if that takes the model of its setup. */
function chooseForModel(
  request: ApiRequest,
  tool: string,
  settings: Settings,
  model: string | null,
): ConfiguredChoice | Refusal | null {
  const destinations = settings.destinationsFor(tool);
  const choice = chooseForSocket(request, destinations, settings);
  if (choice !== null || model === null) return choice;
  return chooseNamed(request, destinations, withoutCollection(model), settings.aliasesFor(tool), settings)
    .found;
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

/**
 * Returns the refusal of a WebSocket to an upstream to which messages of a tool cannot go on one; null where they can. What the tool itself pays goes
 * on as it is.
 */
export function findObstacle(
  { account, upstream, fallbacks, route }: Choice,
  tool: string,
  settings: Settings,
): Refusal | null {
  const { name, websocket } = upstream;
  if (websocket === false) return declined(`"websocket" is off for upstream "${name}"`, switchOn(name));
  if (fallbacks.length > 0) return declined(`upstream "${name}" has a fallback`);
  // The Live API names its model once, and an alias is put there.
  if (isLive(route)) return null;
  return account !== "key" || settings.aliasesFor(tool) === null
    ? null
    : declined("the tool has aliases for models");
}

/** Returns the refusal for which no setup is needed: none of the tool's upstreams has WebSockets. null where one has. */
function findCommonObstacle(request: ApiRequest, tool: string, settings: Settings): Refusal | null {
  const destinations = settings.destinationsFor(tool);
  if (destinations.some(({ upstream }) => upstream.websocket !== false)) return null;
  const first = chooseByRoute(request, destinations, settings);
  return first === null ? null : findObstacle(first, tool, settings);
}

/** Returns the command that lets messages for an upstream go on a WebSocket. */
function switchOn(upstream: string): string {
  const path = formatConfigPath(["upstreams", upstream, "websocket"]);
  return formatCommand(["tollkeeper", "config", "set", path, "auto"]);
}

function declined(reason: string, command?: string): Refusal {
  return noWebSocket("there is no WebSocket here", reason, command);
}
