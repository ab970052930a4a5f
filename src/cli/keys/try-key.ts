import type { Config, Upstream } from "../../core/config/config.ts";
import { NO_SECRET, type Secret } from "../../core/secrets/secret.ts";
import { attempt } from "../attempt.ts";
import { note, print } from "../terminal/console.ts";
import { pluralize } from "../terminal/format.ts";
import { KeyCheckFailure } from "../../proxy/upstream/fetch-models.ts";
import type { KeyTarget } from "./find-key.ts";
import { testAsService } from "./test-as-daemon.ts";

/** Requests the list of models with a key that may not be stored yet. Prints that the upstream accepts it, or returns why it has not. */
export async function tryKey(
  { upstream, ref, config }: KeyTarget,
  secret: Secret,
): Promise<KeyCheckFailure | null> {
  const { value, failure } = await attempt(KeyCheckFailure, () =>
    testAsService(upstream, secret, config.outbound),
  );
  if (failure !== null) return failure;
  const isKeyless = ref.source.kind === "none" || (await listsToAnyone(upstream, config));
  const verdict = isKeyless ? "responds without a key" : "accepts the key";
  print(`${upstream.baseUrl} ${verdict} and lists ${pluralize(value.models, "model")}.`);
  if (isKeyless && ref.source.kind !== "none")
    note("note: this list is public, so it does not prove the key; the first request will");
  return null;
}

/** Some services list their models to everyone, which says nothing about a key. */
async function listsToAnyone(upstream: Upstream, { outbound }: Config): Promise<boolean> {
  const { failure } = await attempt(KeyCheckFailure, () =>
    testAsService({ ...upstream, auth: "none" }, NO_SECRET, outbound),
  );
  return failure === null;
}
