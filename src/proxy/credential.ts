import type { Choice } from "../core/decide/choose-upstream.ts";
import type { HeaderIndex } from "../core/http/header-index.ts";
import { readOwnKey } from "../core/plans/own-keys.ts";
import { Secret } from "../core/secrets/secret.ts";
import type { Keyring } from "./keyring.ts";

/** Returns the key, from memory or as a promise. Where the tool itself pays there is none to read: it is the login or the key that the request has. */
export function findCredential(
  choice: Choice,
  headers: HeaderIndex,
  keyring: Pick<Keyring, "cached" | "require">,
): Secret | Promise<Secret> {
  if (choice.account === "own") return new Secret(readOwnKey(headers, choice.route.api).key ?? "");
  if (choice.plan !== null) return new Secret(choice.plan.findLogin(headers) ?? "");
  return keyring.cached(choice.key) ?? keyring.require(choice.key);
}
