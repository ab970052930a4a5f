import type { Config } from "../../../core/config/config.ts";
import { KeyFailure } from "../../../core/failure.ts";
import {
  leaveOutUnneeded,
  listConfiguredKeys,
  type ConfiguredKey,
} from "../../../core/policy/configured-keys.ts";
import type { KeyRef } from "../../../core/secrets/key-source.ts";
import type { Secret } from "../../../core/secrets/secret.ts";
import type { KeyStore } from "../../../ports.ts";
import { attempt } from "../../attempt.ts";

/** A key that the configuration names. Exactly one of `secret`, `failure` and `skipReason` is set. */
export interface KeyReading extends ConfiguredKey {
  secret: Secret | null;
  failure: KeyFailure | null;
  /** Why it was not looked up. */
  skipReason: string | null;
}

/**
 * Reads every key that the configuration names, one after another, because keychains serve one caller at a time.
 * @param findKeychainFailure resolves with why the keychain cannot be used; null when it can
 */
export async function readKeys(
  config: Config,
  store: KeyStore,
  findKeychainFailure: () => Promise<KeyFailure | null>,
): Promise<KeyReading[]> {
  const readings: KeyReading[] = [];
  for (const key of listConfiguredKeys(config)) {
    const skipReason = await findSkipReason(key.ref, readings, findKeychainFailure);
    if (skipReason === null) readings.push(await readKey(key, store));
    else readings.push({ ...key, secret: null, failure: null, skipReason });
  }
  return leaveOutUnneeded(readings, ({ failure }) => failure?.code === "missing");
}

async function readKey(key: ConfiguredKey, store: KeyStore): Promise<KeyReading> {
  const { value: secret, failure } = await attempt(KeyFailure, () => store.read(key.ref));
  return { ...key, secret, failure, skipReason: null };
}

/** Skips the keychain once it has failed: it would fail for each key again, perhaps after a long wait. */
async function findSkipReason(
  { source }: KeyRef,
  earlier: readonly KeyReading[],
  findKeychainFailure: () => Promise<KeyFailure | null>,
): Promise<string | null> {
  if (source.kind === "credential") return credentialSkipReason();
  if (source.kind !== "keychain") return null;
  if ((await findKeychainFailure()) !== null) return "not checked: the keychain fails";
  const isUnresponsive = earlier.some(({ failure }) => failure?.code === "unresponsive");
  return isUnresponsive ? "not checked: the keychain does not respond" : null;
}

/** systemd gives credentials only to the service's own processes (systemd.exec(5), "Credentials"). */
function credentialSkipReason(): string | null {
  const isAvailable = process.env["CREDENTIALS_DIRECTORY"] !== undefined;
  return isAvailable ? null : "a systemd credential, which only the service can read";
}
