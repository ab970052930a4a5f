import type { HeaderIndex } from "../http/header-index.ts";
import { readOwnKey } from "../plans/own-keys.ts";
import { noOwnKey, unclearOwnKey } from "../refusals/own-keys.ts";
import type { Refusal } from "../refusals/refusal.ts";
import { servesAlike, type Choice } from "./choose-upstream.ts";
import type { ApiRequest } from "./resolve-route.ts";
import type { Settings } from "./settings.ts";

/**
 * Refuses what may not go to an upstream that passes the own keys of tools: a request without such a key, and one whose key could be for
 * another service, because the model alone decides where it goes. null for any other.
 */
export function judgeOwnKey(
  { account, upstream, route }: Choice,
  headers: HeaderIndex,
  tool: string,
  request: ApiRequest,
  settings: Settings,
): Refusal | null {
  if (account !== "own") return null;
  const { fault } = readOwnKey(headers, route.api);
  if (fault !== null) return noOwnKey(upstream, fault);
  const others = settings
    .destinationsFor(tool)
    .filter((one) => one.account === "own" && one.upstream.origin !== upstream.origin)
    .filter((one) => servesAlike(one.upstream, upstream, request, settings))
    .map((one) => one.upstream.name);
  return others.length === 0 ? null : unclearOwnKey(tool, upstream, others);
}
