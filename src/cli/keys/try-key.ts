import { NO_SECRET, type Secret } from "../../core/secrets/secret.ts";
import { attempt } from "../attempt.ts";
import { note, print } from "../terminal/console.ts";
import { pluralize } from "../terminal/format.ts";
import { KeyCheckFailure } from "../../proxy/upstream/fetch-models.ts";
import type { KeyTarget } from "./find-key.ts";
import { testAsService } from "./test-as-daemon.ts";

/**
 * Requests the list of models, or what stands for it, with a key that may not be stored yet. Prints that the upstream accepts it, or returns why it has not.
 * @param what the key, as it is called then
 */
export async function tryKey(
  target: KeyTarget,
  secret: Secret,
  what = "the key",
): Promise<KeyCheckFailure | null> {
  const { upstream, ref, config } = target;
  const { value, failure } = await attempt(KeyCheckFailure, () =>
    testAsService({ upstream, ref }, secret, config.outbound),
  );
  if (failure !== null) return failure;
  const isKeyless = ref.source.kind === "none" || (await listsToAnyone(target));
  const verdict = isKeyless ? "responds without a key" : `accepts ${what}`;
  print(`${upstream.baseUrl} ${verdict}${andLists(value.models)}.`);
  if (isKeyless && ref.source.kind !== "none")
    note("note: this list is public, so it does not prove the key; the first request will");
  return null;
}

/** Returns e.g. ` and lists 2 models`; nothing for a service without a list. */
export function andLists(models: number | null): string {
  return models === null ? "" : ` and lists ${pluralize(models, "model")}`;
}

/** Some services list their models to everyone, which says nothing about a key. */
async function listsToAnyone({ upstream, ref, config: { outbound } }: KeyTarget): Promise<boolean> {
  const { failure } = await attempt(KeyCheckFailure, () =>
    testAsService({ upstream: { ...upstream, auth: "none" }, ref }, NO_SECRET, outbound),
  );
  return failure === null;
}
