import { createKeySources } from "../../adapters/key-sources.ts";
import { createKeychain } from "../../adapters/keychain.ts";
import { Failure } from "../../core/failure.ts";
import { attempt } from "../attempt.ts";
import { EXIT, print, printJson } from "../terminal/console.ts";
import { pluralize } from "../terminal/format.ts";
import { fetchModels, KeyCheckFailure } from "./fetch-models.ts";
import { findKey, type KeyArguments } from "./find-key.ts";
import type { KeyRef } from "../../core/secrets/key-source.ts";

/** Asks the upstream for its models with the key, which shows whether it accepts the key. */
export async function testKey({ json, ...argv }: KeyArguments & { json: boolean }): Promise<void> {
  const { config, upstream, ref } = await findKey(argv);
  const { value, failure } = await attempt(Failure, async () => {
    const secret = await createKeySources(createKeychain()).read(ref);
    return fetchModels(upstream, secret, config.outbound);
  });
  if (!json) {
    if (failure !== null) throw failure;
    return print(
      `${upstream.baseUrl} ${describeAcceptance(ref)} and lists ${pluralize(value.models, "model")}.`,
    );
  }
  const verdict = failure instanceof KeyCheckFailure ? failure.code : "no_key";
  printJson({
    key: ref.name,
    upstream: upstream.name,
    baseUrl: upstream.baseUrl,
    verdict: failure === null ? "accepted" : verdict,
    models: value?.models ?? null,
    message: failure?.message ?? null,
    hint: failure?.hint ?? null,
  });
  if (failure !== null) process.exitCode = EXIT.failed;
}

/** Says that an upstream has accepted a key, or needs none. */
function describeAcceptance({ name, source }: KeyRef): string {
  return source.kind === "none" ? "responds without a key" : `accepts the key "${name}"`;
}
