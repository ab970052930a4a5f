import { KeyFailure } from "../core/failure.ts";
import type { KeyRef } from "../core/secrets/key-source.ts";
import { parseKeyValue } from "../core/secrets/key-value.ts";
import type { Secret } from "../core/secrets/secret.ts";
import { messageOf } from "../core/thrown.ts";
import type { WritableKeyStore } from "../ports.ts";
import { callBus } from "./keychain/bus.ts";
import { callKeytar } from "./keychain/call.ts";
import { keychainEnvironment } from "./keychain/environment.ts";
import {
  LOCKED,
  NO_COLLECTION,
  UNRESPONSIVE,
  childDied,
  failureOf,
  knownFailure,
  noSuchKey,
  notAKey,
} from "./keychain/failures.ts";
import { probeCollection, probeItem } from "./keychain/probe.ts";
import type { Bus, Probe } from "./keychain/probe.ts";
import type { KeytarRequest } from "./keychain/protocol.ts";

/** Leaves half a second of the five that `KeyStore` promises for starting and ending processes. */
const DEFAULT_TIMEOUT_MS = 4500;

/**
 * The operating system's keychain: the macOS keychain, or on Linux any Secret Service provider. Each operation first
 * asks over D-Bus, on Linux, whether it could end in a prompt that nobody sees, then calls keytar in a process of its own.
 * @param options.timeoutMs limit of one operation, all its steps together
 */
export function createKeychain(options: { timeoutMs?: number } = {}): WritableKeyStore {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  return {
    read: (ref) => withKeyFailures(read(begin(ref, timeoutMs))),
    write: (ref, secret) => withKeyFailures(write(begin(ref, timeoutMs), secret)),
    remove: (ref) => withKeyFailures(remove(begin(ref, timeoutMs))),
  };
}

/**
 * Finds out whether keys could be read and stored now, by looking for one that nobody has. Changes nothing, and shows no
 * prompt where the Secret Service can be asked first. Settles within 5 seconds; rejects with the KeyFailure that would
 * stand in the way.
 */
export function tryKeychain(): Promise<void> {
  const nobodys: KeyRef = {
    origin: "https://tollkeeper.invalid",
    name: "none",
    source: { kind: "keychain" },
  };
  return withKeyFailures(tryOut(begin(nobodys, DEFAULT_TIMEOUT_MS)));
}

/** Asks the library as well: the bus may answer where libsecret is not installed. */
async function tryOut(operation: Operation): Promise<void> {
  const probe = await probed(probeCollection, operation);
  if (probe.state === "missing") throw knownFailure(NO_COLLECTION);
  await operation.keytar({ call: "get", account: operation.account });
}

/** The port promises a KeyFailure and nothing else; a process that cannot even be started rejects with the system's. */
async function withKeyFailures<T>(operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    if (error instanceof KeyFailure) throw error;
    throw failureOf(messageOf(error));
  }
}

/** One operation on one item, with the time that is left to it. */
interface Operation {
  ref: KeyRef;
  account: string;
  bus: Bus;
  keytar(request: KeytarRequest): Promise<string | boolean | null>;
}

function begin(ref: KeyRef, timeoutMs: number): Operation {
  const env = keychainEnvironment();
  const deadline = performance.now() + timeoutMs;
  const left = () => Math.max(1, Math.round(deadline - performance.now()));
  return {
    ref,
    // The pair binds the key to the upstream's origin: a base URL edited to another host finds no key to send there.
    account: `${ref.name}@${ref.origin}`,
    bus: (request) => callBus(request, env, left()),
    keytar: (request) => askKeytar(request, env, left()),
  };
}

async function read(operation: Operation): Promise<Secret> {
  const { ref, account } = operation;
  const probe = await probed(probeItem, operation);
  if (probe.state === "missing") throw noSuchKey(ref, false);
  const value = await operation.keytar({ call: "get", account });
  if (typeof value !== "string") throw noSuchKey(ref, probe.state === "unknown");
  try {
    return parseKeyValue(value);
  } catch (error) {
    throw notAKey(ref, error instanceof Error ? error.message : "unreadable");
  }
}

async function write(operation: Operation, secret: Secret): Promise<void> {
  const probe = await probed(probeCollection, operation);
  if (probe.state === "missing") throw knownFailure(NO_COLLECTION);
  await operation.keytar({ call: "set", account: operation.account, value: secret.reveal() });
}

async function remove(operation: Operation): Promise<boolean> {
  const { ref, account } = operation;
  const probe = await probed(probeItem, operation);
  if (probe.state === "missing") return false;
  const removed = (await operation.keytar({ call: "delete", account })) === true;
  if (!removed && probe.state === "unknown") throw noSuchKey(ref, true);
  return removed;
}

/** Asks first where that can be done, and refuses what would end in a prompt. */
async function probed(
  probe: (bus: Bus, account: string) => Promise<Probe>,
  operation: Operation,
): Promise<Probe> {
  // Elsewhere keytar itself tells locked from missing.
  if (process.platform !== "linux") return { state: "open" };
  const result = await probe(operation.bus, operation.account);
  if (result.state === "failed") throw failureOf(result.text);
  if (result.state === "locked") throw knownFailure(LOCKED);
  return result;
}

async function askKeytar(
  request: KeytarRequest,
  env: Record<string, string>,
  timeoutMs: number,
): Promise<string | boolean | null> {
  const outcome = await callKeytar(request, env, timeoutMs);
  if (outcome.ok === true) return outcome.value;
  if (outcome.ok === false) throw failureOf(outcome.message);
  throw outcome.died === null ? knownFailure(UNRESPONSIVE) : childDied(outcome.died);
}
