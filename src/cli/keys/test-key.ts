import { createKeySources } from "../../adapters/key-sources.ts";
import { createKeychain } from "../../adapters/keychain.ts";
import { Failure } from "../../core/failure.ts";
import { attempt } from "../attempt.ts";
import { EXIT, note, print, printJson } from "../terminal/console.ts";
import { andLists } from "./try-key.ts";
import { KeyCheckFailure, type KeyCheck } from "../../proxy/upstream/fetch-models.ts";
import { resolveConfigPath } from "../load-config.ts";
import { findKey, type KeyArguments, type KeyTarget } from "./find-key.ts";
import { testAsService, testByDaemon, toFailure, trustHere } from "./test-as-daemon.ts";
import { describeKeySource, type KeyRef } from "../../core/secrets/key-source.ts";

/** Has the upstream asked for its models with the key, which shows whether it accepts the key: by the daemon, if one runs. */
export async function testKey({ json, ...argv }: KeyArguments & { json: boolean }): Promise<void> {
  const target = await findKey(argv);
  const { upstream, ref } = target;
  if (argv.name !== undefined && argv.name !== ref.name) throw noSuchKey(argv.name, target);
  const byDaemon = await askTheDaemon(target, resolveConfigPath(argv.config));
  if (byDaemon === null && !json) note(describeOwnTest());
  const { value, failure } = byDaemon ?? (await testHere(target));
  if (!json) {
    if (failure !== null) throw failure;
    return print(`${upstream.baseUrl} ${describeAcceptance(ref)}${andLists(value.models)}.`);
  }
  const verdict = failure instanceof KeyCheckFailure ? failure.code : "no_key";
  printJson({
    key: ref.name,
    upstream: upstream.name,
    baseUrl: upstream.baseUrl,
    verdict: failure === null ? "accepted" : verdict,
    testedBy: byDaemon === null ? "command" : "daemon",
    models: value?.models ?? null,
    message: failure?.message ?? null,
    hint: failure?.hint ?? null,
  });
  if (failure !== null) process.exitCode = EXIT.failed;
}

/** A source other than the keychain has one key. */
function noSuchKey(name: string, { upstream, ref }: KeyTarget): Failure {
  const { kind } = ref.source;
  const only =
    kind === "none" ? "takes no key" : `has one key, "${ref.name}", in: ${describeKeySource(ref.source)}`;
  const what = kind === "none" ? "the upstream" : "it";
  return new Failure(
    `no key is called "${name}": upstream ${upstream.name} ${only}`,
    `to test ${what}, type: tollkeeper ${ref.setArguments.replace("key set", "key test")}`,
  );
}

/** Says that an upstream has accepted a key, or needs none. */
function describeAcceptance({ name, source }: KeyRef): string {
  return source.kind === "none" ? "responds without a key" : `accepts the key "${name}"`;
}

type Outcome = { value: KeyCheck; failure: null } | { value: null; failure: Failure };

async function askTheDaemon(
  { upstream, ref, config }: KeyTarget,
  configFile: string,
): Promise<Outcome | null> {
  const tests = await testByDaemon(configFile, { upstream: upstream.name, key: ref.name });
  const test = tests?.tests[0];
  if (tests === null || test === undefined) return null;
  if (test.check !== null) return { value: test.check, failure: null };
  if (test.failure === null) return null;
  return { value: null, failure: toFailure(test.failure, tests.trust, config.outbound) };
}

async function testHere({ upstream, ref, config }: KeyTarget): Promise<Outcome> {
  return attempt(Failure, async () => {
    const secret = await createKeySources(createKeychain()).read(ref);
    return testAsService({ upstream, ref }, secret, config.outbound);
  });
}

function describeOwnTest(): string {
  const what =
    "note: no daemon runs with this configuration, so this command tests the key as the service would";
  const ignored = trustHere().map(({ name }) => name);
  return ignored.length === 0 ? what : `${what}: without ${ignored.join(" and ")} of this shell`;
}
