import { createKeySources } from "../../adapters/key-sources.ts";
import { createKeychain } from "../../adapters/keychain.ts";
import { Failure, KeyFailure } from "../../core/failure.ts";
import { describeKeySource, whereToReplace } from "../../core/secrets/key-source.ts";
import { NO_SECRET, type Secret } from "../../core/secrets/secret.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { attempt } from "../attempt.ts";
import { requireKeychainSource, type KeyTarget } from "../keys/find-key.ts";
import { readKey } from "../keys/read-key.ts";
import { tryKey } from "../keys/try-key.ts";
import { confirm } from "../terminal/confirm.ts";
import { note } from "../terminal/console.ts";
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
 * @param given the key that was pasted at an earlier question; null for none
 * @param isNewSource true for a command that was just named, and can be named again
 * @returns "needed" when the upstream was to take no key and wants one; null when the person wants to choose the service again
 * @throws Failure when there is no key that can be stored
 */
export async function provideKey(
  target: KeyTarget,
  options: SetupOptions,
  given: Secret | null,
  isNewSource: boolean,
): Promise<ProvidedKey | "needed" | null> {
  const { upstream, ref } = target;
  if (ref.source.kind === "none") return provideNoKey(target, options);
  const description = `"${ref.name}" for ${upstream.origin} (${describeKeySource(ref.source)})`;
  const store = createKeySources(createKeychain());
  const { value: stored, failure } = await attempt(KeyFailure, () => store.read(ref));
  if (ref.source.kind !== "keychain") {
    if (options.keyStdin) requireKeychainSource(target);
    if (isNewSource)
      return (await isConfirmed(target, stored, failure)) ? { description, secret: null } : null;
    if (failure !== null) note(`warning: ${failure.message}`);
    else if (!(await isUsable(target, stored))) throw refusedElsewhere(target);
    return { description, secret: null };
  }
  if (failure !== null && failure.code !== "missing") throw withBaseUrl(failure, target);
  if (stored !== null && given === null && !options.replace && (await isUsable(target, stored))) {
    if (options.keyStdin) await requireSameKey(target, stored, options);
    return { description, secret: null };
  }
  const secret = options.yes ? await readGivenKey(target, options) : await askKey(target, options, given);
  return secret === null ? null : { description, secret };
}

/** Has the advice to use another key source begin with the base URL: nothing is in the configuration before the key is known. */
function withBaseUrl(failure: KeyFailure, { upstream: { name, baseUrl } }: KeyTarget): Failure {
  const set = "tollkeeper config set ";
  const first = formatCommand(["tollkeeper", "config", "set", `upstreams.${name}.baseUrl`, baseUrl]);
  return new Failure(failure.messageForOwner, failure.hint?.replace(set, `${first} && ${set}`));
}

/** A server on this machine may be started later. */
async function provideNoKey(
  target: KeyTarget,
  { yes, baseUrl: given }: SetupOptions,
): Promise<ProvidedKey | "needed"> {
  const { baseUrl, origin } = target.upstream;
  const failure = await tryKey(target, NO_SECRET);
  if (failure?.code !== "refused") {
    if (failure !== null) note(`warning: ${failure.message}`);
    return { description: `none; ${origin} takes none`, secret: null };
  }
  if (yes) {
    const missing = given === undefined ? [`--base-url ${baseUrl}`, "--key-stdin"] : ["--key-stdin"];
    throw missingOptions(`${origin} needs a key`, missing, baseUrl);
  }
  note(`${origin} needs a key.`);
  return "needed";
}

/** Tests a key that is kept unless the upstream refuses it: a network that is down now proves nothing. */
async function isUsable(target: KeyTarget, secret: Secret): Promise<boolean> {
  const failure = await tryKey(target, secret, "the key that is stored");
  if (failure !== null) note(`warning: ${failure.message}`);
  return failure?.code !== "refused";
}

/** Tests what a command printed that was just named. One that fails now may work after a login. */
async function isConfirmed(
  target: KeyTarget,
  secret: Secret | null,
  unread: KeyFailure | null,
): Promise<boolean> {
  const failure = secret === null ? unread : await tryKey(target, secret, "the access keys");
  if (failure === null) return true;
  note(`error: ${failure.message}`);
  if (failure.hint !== undefined) note(`hint: ${failure.hint}`);
  return confirm("Use this command all the same? Answer no to choose the service again.");
}

async function requireSameKey({ ref }: KeyTarget, stored: Secret, { force }: SetupOptions): Promise<void> {
  const given = await readKey(`key "${ref.name}"`, ref, force);
  if (given.isSameAs(stored)) return;
  throw new Failure(
    `another key "${ref.name}" for ${ref.origin} is stored, and the upstream does not reject it; the one on standard input was not tested`,
    "to test that one and replace the other, add: --replace",
  );
}

/** Reads and tests the key on standard input. */
async function readGivenKey(target: KeyTarget, { keyStdin, force }: SetupOptions): Promise<Secret> {
  const { ref } = target;
  if (!keyStdin)
    throw missingOptions(
      `${ref.origin} needs a key, and --yes asks nothing`,
      ["--key-stdin"],
      target.upstream.baseUrl,
    );
  const secret = await readKey(`key "${ref.name}"`, ref, force);
  const failure = await tryKey(target, secret);
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

/**
 * Asks for a key until the upstream does not refuse it; null when the person wants to choose the service again.
 * @param given the key to try first
 */
async function askKey(
  target: KeyTarget,
  { force }: SetupOptions,
  given: Secret | null,
): Promise<Secret | null> {
  const { baseUrl, origin } = target.upstream;
  if (given !== null) note(`What you pasted is taken as the key. It is sent only to ${origin}.`);
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
    const { value: secret, failure: unlikely } = await attempt(
      Failure,
      () => (attempts === 0 ? given : null) ?? readKey(`key for ${baseUrl}`, target.ref, force),
    );
    if (unlikely !== null) {
      note(`error: ${unlikely.message}`);
      continue;
    }
    const failure = await tryKey(target, secret);
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
    `replace the key ${whereToReplace(ref)}`,
  );
}
