import assert from "node:assert/strict";
import { test } from "node:test";
import { readKeys } from "../../../../src/cli/doctor/evidence/read-keys.ts";
import { defaultConfig, createUpstream, type Config } from "../../../../src/core/config/config.ts";
import { KeyFailure } from "../../../../src/core/failure.ts";
import type { KeySource } from "../../../../src/core/secrets/key-source.ts";
import { Secret } from "../../../../src/core/secrets/secret.ts";
import type { KeyStore } from "../../../../src/ports.ts";
import { setEnvironment } from "../../../helpers/process/set-environment.ts";

const KEYCHAIN: KeySource = { kind: "keychain" };
const FILE: KeySource = { kind: "file", path: "/key" };
const CREDENTIAL: KeySource = { kind: "credential", name: "key" };

/** Returns a configuration with an upstream for each source, each at a host of its own. */
function configWith(...sources: KeySource[]): Config {
  const upstreams = sources.map((keySource, i) => {
    return { ...createUpstream(`u${i}`, `https://${i}.example.com/v1`), keySource };
  });
  return { ...defaultConfig, upstreams: Object.fromEntries(upstreams.map((one) => [one.name, one])) };
}

const unresponsive = new KeyFailure("unresponsive", "no answer", "wait");

/** Returns a key store that records what it is asked for. `keychain` supplies keys whose source is the keychain. */
function storeOf(keychain: () => Secret) {
  const asked: string[] = [];
  const store: KeyStore = {
    read(ref) {
      asked.push(ref.origin);
      return ref.source.kind === "keychain"
        ? new Promise((resolve) => resolve(keychain()))
        : Promise.resolve(new Secret("k"));
    },
  };
  return { store, asked };
}

test("after one keychain timeout the other keychain keys are skipped, and keys of other sources are still read", async () => {
  const { store, asked } = storeOf(() => {
    throw unresponsive;
  });
  const readings = await readKeys(configWith(KEYCHAIN, FILE, KEYCHAIN), store, () => Promise.resolve(null));
  assert.deepEqual(
    readings.map(({ secret, failure, skipReason }) => [secret !== null, failure, skipReason]),
    [
      [false, unresponsive, null],
      [true, null, null],
      [false, null, "not checked: the keychain does not respond"],
    ],
  );
  assert.deepEqual(asked, ["https://0.example.com", "https://1.example.com"]);
});

test("no key is read from a keychain that cannot be used", async () => {
  const { store, asked } = storeOf(() => new Secret("k"));
  const readings = await readKeys(configWith(KEYCHAIN, FILE), store, () => Promise.resolve(unresponsive));
  assert.equal(readings[0]?.skipReason, "not checked: the keychain fails");
  assert.deepEqual(asked, ["https://1.example.com"]);
});

test("a systemd credential is read only when systemd provides credentials to this process", async (t) => {
  const { store, asked } = storeOf(() => new Secret("k"));
  const read = () => readKeys(configWith(CREDENTIAL), store, () => Promise.resolve(null));
  setEnvironment(t, { CREDENTIALS_DIRECTORY: undefined });
  assert.match((await read())[0]?.skipReason ?? "", /only the service can read$/);
  setEnvironment(t, { CREDENTIALS_DIRECTORY: "/run/credentials" });
  assert.ok((await read())[0]?.secret);
  assert.equal(asked.length, 1);
});
