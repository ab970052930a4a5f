import { KeyFailure, messageOf } from "../core/failure.ts";
import { noSuchKey } from "../core/refusals/keys.ts";
import type { KeyRef } from "../core/secrets/key-source.ts";
import { parseApiKey } from "../core/secrets/api-key.ts";
import type { Secret } from "../core/secrets/secret.ts";
import type { StoredKey, WritableKeyStore } from "../ports.ts";
import { callBus } from "./keychain/bus.ts";
import { callKeytar } from "./keychain/call-keytar.ts";
import { keychainEnvironment } from "./keychain/environment.ts";
import {
  LOCKED,
  UNRESPONSIVE,
  childDied,
  failureOf,
  knownFailure,
  noDefaultCollection,
  invalidKey,
} from "./keychain/failures.ts";
export { withoutElsewhere } from "./keychain/failures.ts";
import { probeCollection, probeItem } from "./keychain/probe.ts";
import type { Bus, Probe } from "./keychain/probe.ts";
import type { KeytarRequest, KeytarValue } from "./keychain/protocol.ts";

/** Half a second less than the five that `KeyStore` promises, for starting and ending processes. */
const DEFAULT_TIMEOUT_MS = 4500;

/**
 * Returns the operating system's keychain: the macOS keychain, or on Linux any Secret Service provider. On Linux each
 * operation first asks over D-Bus whether it would open a prompt, which a daemon's user might never see. It then calls
 * keytar in a child process.
 * @param options.timeoutMs limit of one operation with all its steps
 */
export function createKeychain(options: { timeoutMs?: number } = {}): WritableKeyStore {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  return {
    read: (ref) => withKeyFailures(ref, read(beginOperation(ref, timeoutMs))),
    write: (ref, secret) => withKeyFailures(ref, write(beginOperation(ref, timeoutMs), secret)),
    remove: (ref) => withKeyFailures(ref, remove(beginOperation(ref, timeoutMs))),
    list: () => withKeyFailures(UNUSED, list(beginOperation(UNUSED, timeoutMs))),
  };
}

/** A key that is never stored, for operations that need no key. */
const UNUSED: KeyRef = {
  origin: "https://tollkeeper.invalid",
  name: "none",
  source: { kind: "keychain" },
  setArguments: "key set",
};

/**
 * Checks whether keys can be read and stored now, by reading one that does not exist. Changes nothing, and opens no prompt
 * where the Secret Service can be asked first. Settles within 5 seconds; rejects with the KeyFailure that an operation
 * would get.
 */
export function checkKeychain(): Promise<void> {
  return withKeyFailures(UNUSED, check(beginOperation(UNUSED, DEFAULT_TIMEOUT_MS)));
}

/** Calls keytar as well: the bus can work on a system without libsecret. */
async function check(operation: Operation): Promise<void> {
  const probe = await probeUnlocked(probeCollection, operation);
  if (probe.state === "missing") throw noDefaultCollection(operation.ref, probe.others);
  await operation.keytar({ call: "get", account: operation.account });
}

/** Turns any other error, such as that of a process that cannot be started, into a KeyFailure, as the port promises. */
async function withKeyFailures<T>(ref: KeyRef, operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    if (error instanceof KeyFailure) throw error;
    throw failureOf(messageOf(error), ref);
  }
}

/** One operation on one item, with one deadline for all its steps. */
interface Operation {
  ref: KeyRef;
  account: string;
  bus: Bus;
  keytar(request: KeytarRequest): Promise<KeytarValue>;
}

function beginOperation(ref: KeyRef, timeoutMs: number): Operation {
  const env = keychainEnvironment();
  const deadline = performance.now() + timeoutMs;
  const remainingMs = () => Math.max(1, Math.round(deadline - performance.now()));
  return {
    ref,
    // The account binds the key to the upstream's origin: after an edit of the base URL, no key is found to send there.
    account: `${ref.name}@${ref.origin}`,
    bus: (request) => callBus(request, env, remainingMs()),
    keytar: (request) => askKeytar(ref, request, env, remainingMs()),
  };
}

async function read(operation: Operation): Promise<Secret> {
  const { ref, account } = operation;
  const probe = await probeUnlocked(probeItem, operation);
  if (probe.state === "missing") throw noSuchKey(ref, false);
  const value = await operation.keytar({ call: "get", account });
  if (typeof value !== "string") throw noSuchKey(ref, probe.state === "unknown");
  try {
    return parseApiKey(value);
  } catch (error) {
    throw invalidKey(ref, error instanceof Error ? error.message : "unreadable");
  }
}

async function write(operation: Operation, secret: Secret): Promise<void> {
  const probe = await probeUnlocked(probeCollection, operation);
  if (probe.state === "missing") throw noDefaultCollection(operation.ref, probe.others);
  await operation.keytar({ call: "set", account: operation.account, value: secret.reveal() });
}

async function remove(operation: Operation): Promise<boolean> {
  const { ref, account } = operation;
  const probe = await probeUnlocked(probeItem, operation);
  if (probe.state === "missing") return false;
  const removed = (await operation.keytar({ call: "delete", account })) === true;
  if (!removed && probe.state === "unknown") throw noSuchKey(ref, true);
  return removed;
}

async function list(operation: Operation): Promise<StoredKey[]> {
  const probe = await probeUnlocked(probeCollection, operation);
  if (probe.state === "missing") return [];
  const accounts = await operation.keytar({ call: "list" });
  return Array.isArray(accounts) ? accounts.map(parseAccount) : [];
}

/** A key's name has no `@`. */
function parseAccount(account: string): StoredKey {
  const at = account.indexOf("@");
  return { name: account.slice(0, at), origin: account.slice(at + 1) };
}

/** Asks the Secret Service, on Linux, and throws a KeyFailure when the keychain is locked, which would open a prompt. */
async function probeUnlocked(
  probe: (bus: Bus, account: string) => Promise<Probe>,
  operation: Operation,
): Promise<Probe> {
  // On other systems keytar distinguishes a locked keychain from a missing key.
  if (process.platform !== "linux") return { state: "open" };
  const result = await probe(operation.bus, operation.account);
  if (result.state === "failed") throw failureOf(result.text, operation.ref);
  if (result.state === "locked") throw knownFailure(LOCKED, operation.ref);
  return result;
}

async function askKeytar(
  ref: KeyRef,
  request: KeytarRequest,
  env: Record<string, string>,
  timeoutMs: number,
): Promise<KeytarValue> {
  const outcome = await callKeytar(request, env, timeoutMs);
  if (outcome.ok === true) return outcome.value;
  if (outcome.ok === false) throw failureOf(outcome.message, ref);
  throw outcome.died === null ? knownFailure(UNRESPONSIVE, ref) : childDied(outcome.died, ref);
}
