import { createKeySources } from "../../adapters/key-sources.ts";
import { createKeychain } from "../../adapters/keychain.ts";
import type { Config, Upstream } from "../../core/config/config.ts";
import { Failure, KeyFailure } from "../../core/failure.ts";
import { describeKeySource } from "../../core/secrets/key-source.ts";
import { NO_SECRET, type Secret } from "../../core/secrets/secret.ts";
import { attempt } from "../attempt.ts";
import { KeyCheckFailure } from "../../proxy/upstream/fetch-models.ts";
import { testAsService } from "../keys/test-as-daemon.ts";
import { requireKeychainSource, type KeyTarget } from "../keys/find-key.ts";
import { readKey } from "../keys/read-key.ts";
import { confirm } from "../terminal/confirm.ts";
import { note, print } from "../terminal/console.ts";
import { pluralize } from "../terminal/format.ts";
import { missingOptions, type SetupOptions } from "./options.ts";

/** The key that an upstream is to have. Nothing is stored yet. */
interface ProvidedKey {
  /** For the summary, e.g. `"default", in the keychain`. */
  description: string;
  /** The key to store; null to leave what is there. */
  secret: Secret | null;
}

const MAX_ATTEMPTS = 3;

/**
 * Finds the key of an upstream, or reads a new one, and tests it. A stored key that works is never replaced without being
 * told to.
 * @returns null when the person wants to choose the service again
 * @throws Failure when there is no key that can be stored
 */
export async function provideKey(target: KeyTarget, options: SetupOptions): Promise<ProvidedKey | null> {
  const { upstream, ref } = target;
  if (ref.source.kind === "none") return provideNoKey(target, options);
  const description = `"${ref.name}" for ${upstream.origin} (${describeKeySource(ref.source)})`;
  const store = createKeySources(createKeychain());
  const { value: stored, failure } = await attempt(KeyFailure, () => store.read(ref));
  if (ref.source.kind !== "keychain") {
    if (options.keyStdin) requireKeychainSource(target);
    if (failure !== null) note(`warning: ${failure.message}`);
    else if (!(await isUsable(target, stored))) throw refusedElsewhere(target);
    return { description, secret: null };
  }
  if (failure !== null && failure.code !== "missing") throw failure;
  if (stored !== null && !options.replace && (await isUsable(target, stored))) {
    if (options.keyStdin) await requireSameKey(target, stored, options);
    return { description, secret: null };
  }
  const secret = options.yes ? await readGivenKey(target, options) : await askKey(target, options);
  return secret === null ? null : { description, secret };
}

/** A server on this machine may be started later. */
async function provideNoKey(target: KeyTarget, { yes }: SetupOptions): Promise<ProvidedKey | null> {
  const { baseUrl, origin } = target.upstream;
  const failure = await testKey(target, NO_SECRET);
  if (failure?.code !== "refused") {
    if (failure !== null) note(`warning: ${failure.message}`);
    return { description: `none; ${origin} takes none`, secret: null };
  }
  if (yes) throw missingOptions(`${origin} needs a key`, [`--base-url ${baseUrl}`, "--key-stdin"]);
  note(`error: ${origin} needs a key; choose the service again`);
  return null;
}

/** Tests a key that is kept unless the upstream refuses it: a network that is down now proves nothing. */
async function isUsable(target: KeyTarget, secret: Secret): Promise<boolean> {
  const failure = await testKey(target, secret);
  if (failure !== null) note(`warning: ${failure.message}`);
  return failure?.code !== "refused";
}

/** Prints that the upstream accepts a key, or returns why it has not. */
async function testKey(
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

async function requireSameKey({ ref }: KeyTarget, stored: Secret, { force }: SetupOptions): Promise<void> {
  const given = await readKey(`key "${ref.name}"`, ref, force);
  if (given.isSameAs(stored)) return;
  throw new Failure(
    `another key "${ref.name}" for ${ref.origin} is stored, and the upstream does not reject it`,
    "to replace it, add --replace",
  );
}

/** Reads and tests the key on standard input. */
async function readGivenKey(target: KeyTarget, { keyStdin, force }: SetupOptions): Promise<Secret> {
  const { ref } = target;
  if (!keyStdin) throw missingOptions(`${ref.origin} needs a key, and --yes asks nothing`, ["--key-stdin"]);
  const secret = await readKey(`key "${ref.name}"`, ref, force);
  const failure = await testKey(target, secret);
  if (failure === null) return secret;
  const isRefused = failure.code === "refused";
  if (force && !isRefused) {
    note(`warning: ${failure.message}`);
    return secret;
  }
  const likely = failure.likelyBaseUrl === null ? "" : `the base URL is probably ${failure.likelyBaseUrl}; `;
  const hint = isRefused
    ? "use a key that this service has issued, or another --base-url"
    : `${likely}to store the key untested, add: --force`;
  throw new Failure(`${failure.message}; nothing was changed`, hint);
}

/** Asks for a key until the upstream does not refuse it; null when the person wants to choose the service again. */
async function askKey(target: KeyTarget, { force }: SetupOptions): Promise<Secret | null> {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
    const { value: secret, failure: unlikely } = await attempt(Failure, () =>
      readKey(`key for ${target.upstream.baseUrl}`, target.ref, force),
    );
    if (unlikely !== null) {
      note(`error: ${unlikely.message}`);
      continue;
    }
    const failure = await testKey(target, secret);
    if (failure === null) return secret;
    note(`error: ${failure.message}`);
    if (failure.code === "refused") continue;
    if (failure.likelyBaseUrl !== null) note(`The base URL is probably ${failure.likelyBaseUrl}.`);
    return (await confirm("Store the key untested? Answer no to choose the service again.")) ? secret : null;
  }
  throw new Failure("no usable key was given; nothing was changed", "to try again, type: tollkeeper setup");
}

function refusedElsewhere({ upstream, ref }: KeyTarget): Failure {
  return new Failure(
    `${upstream.origin} rejects the key of upstream ${upstream.name}`,
    `replace the key in: ${describeKeySource(ref.source)}`,
  );
}
