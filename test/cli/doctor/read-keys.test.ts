import assert from "node:assert/strict";
import { test } from "node:test";
import { readKeys } from "../../../src/cli/doctor/read-keys.ts";
import { defaultConfig, plainUpstream, type Config } from "../../../src/core/config/config.ts";
import { KeyFailure } from "../../../src/core/failure.ts";
import type { KeySource } from "../../../src/core/secrets/key-source.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import type { KeyStore } from "../../../src/ports.ts";
import { enter } from "../../helpers/keychain/keychain-session.ts";

const KEYCHAIN: KeySource = { kind: "keychain" };
const FILE: KeySource = { kind: "file", path: "/key" };
const CREDENTIAL: KeySource = { kind: "credential", name: "key" };

/** One upstream for each source, at a host of its own. */
function configWith(...sources: KeySource[]): Config {
  const upstreams = sources.map((keySource, i) => {
    return { ...plainUpstream(`u${i}`, `https://${i}.example.com/v1`), keySource };
  });
  return { ...defaultConfig, upstreams: Object.fromEntries(upstreams.map((one) => [one.name, one])) };
}

const hanging = new KeyFailure("unresponsive", "no answer", "wait");

/** Keeps count; a key of the keychain is answered as `keychain` says. */
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

test("after one silence of the keychain nobody waits for it again; other sources are read all the same", async () => {
  const { store, asked } = storeOf(() => {
    throw hanging;
  });
  const readings = await readKeys(configWith(KEYCHAIN, FILE, KEYCHAIN), store, () => Promise.resolve(null));
  assert.deepEqual(
    readings.map(({ secret, failure, passedOver }) => [secret !== null, failure, passedOver]),
    [
      [false, hanging, null],
      [true, null, null],
      [false, null, "not looked for, because the keychain does not answer"],
    ],
  );
  assert.deepEqual(asked, ["https://0.example.com", "https://1.example.com"]);
});

test("a keychain that fails altogether is asked for no key", async () => {
  const { store, asked } = storeOf(() => new Secret("k"));
  const readings = await readKeys(configWith(KEYCHAIN, FILE), store, () => Promise.resolve(hanging));
  assert.equal(readings[0]?.passedOver, "not looked for, because the keychain fails");
  assert.deepEqual(asked, ["https://1.example.com"]);
});

test("a systemd credential is looked for only where one can be", async (t) => {
  const { store, asked } = storeOf(() => new Secret("k"));
  const read = () => readKeys(configWith(CREDENTIAL), store, () => Promise.resolve(null));
  enter(t, { CREDENTIALS_DIRECTORY: undefined });
  assert.match((await read())[0]?.passedOver ?? "", /only the service can read$/);
  enter(t, { CREDENTIALS_DIRECTORY: "/run/credentials" });
  assert.ok((await read())[0]?.secret);
  assert.equal(asked.length, 1);
});
