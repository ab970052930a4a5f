import { keyRefsOf, type Config, type ConfiguredKey } from "../../core/config/config.ts";
import { KeyFailure } from "../../core/failure.ts";
import type { KeyRef } from "../../core/secrets/key-source.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import type { KeyStore } from "../../ports.ts";

/** One key that the configuration names, and what became of looking for it: one of the three is there. */
export interface KeyReading extends ConfiguredKey {
  secret: Secret | null;
  failure: KeyFailure | null;
  /** Why nobody looked for it. */
  passedOver: string | null;
}

/**
 * Reads every key that the configuration names, one after another: keychains answer one caller at a time.
 * @param findKeychainFailure what stands in the way of using the keychain, null for nothing
 */
export async function readKeys(
  config: Config,
  store: KeyStore,
  findKeychainFailure: () => Promise<KeyFailure | null>,
): Promise<KeyReading[]> {
  const readings: KeyReading[] = [];
  for (const key of keyRefsOf(config)) {
    const passedOver = await reasonToPass(key.ref, readings, findKeychainFailure);
    if (passedOver === null) readings.push(await readKey(key, store));
    else readings.push({ ...key, secret: null, failure: null, passedOver });
  }
  return readings;
}

async function readKey(key: ConfiguredKey, store: KeyStore): Promise<KeyReading> {
  try {
    return { ...key, secret: await store.read(key.ref), failure: null, passedOver: null };
  } catch (error) {
    if (!(error instanceof KeyFailure)) throw error;
    return { ...key, secret: null, failure: error, passedOver: null };
  }
}

/** A keychain that fails would fail, and may take its time to, for each key again. */
async function reasonToPass(
  { source }: KeyRef,
  before: readonly KeyReading[],
  findKeychainFailure: () => Promise<KeyFailure | null>,
): Promise<string | null> {
  if (source.kind === "credential") return reasonOfCredential();
  if (source.kind !== "keychain") return null;
  if ((await findKeychainFailure()) !== null) return "not looked for, because the keychain fails";
  const hangs = before.some(({ failure }) => failure?.code === "unresponsive");
  return hangs ? "not looked for, because the keychain does not answer" : null;
}

/** Only the service's own processes are given one (systemd.exec(5), "Credentials"). */
function reasonOfCredential(): string | null {
  const isGiven = process.env["CREDENTIALS_DIRECTORY"] !== undefined;
  return isGiven ? null : "a systemd credential, which only the service can read";
}
