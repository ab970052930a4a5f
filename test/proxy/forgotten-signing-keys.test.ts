// What the signer keeps of access keys, which could sign requests until the end of the day, goes with the keys.
import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { getSigningKey } from "@smithy/signature-v4";
import { prepareSettings } from "../../src/core/decide/settings.ts";
import { defaultConfig } from "../../src/core/config/config.ts";
import { AwsKeys } from "../../src/core/secrets/aws-keys.ts";
import { Keyring } from "../../src/proxy/keyring.ts";
import { prepareSigner, signHeaders } from "../../src/proxy/signing.ts";
import { upstreamAt } from "../helpers/gate/gate.ts";
import { MemoryKeys, MemoryLog, realClock } from "../helpers/gate/memory.ts";

const KEYS = { accessKeyId: "ASIASENTINEL47110", secretAccessKey: "sentinel/secret+4711" };

const AT = Date.UTC(2026, 10, 30, 12);

/** Counts the HMACs that a signing key takes: one if it is known, and four more to derive it. */
async function countHmacs(): Promise<number> {
  let count = 0;
  class Counting {
    readonly #hash;

    constructor(key?: unknown) {
      count += 1;
      this.#hash = key === undefined ? createHash("sha256") : createHmac("sha256", key as string);
    }
    update(bytes: Uint8Array): void {
      this.#hash.update(bytes);
    }
    digest(): Promise<Uint8Array> {
      return Promise.resolve(this.#hash.digest());
    }
    reset(): void {}
  }
  await getSigningKey(Counting, KEYS, "20261130", "eu-west-1", "bedrock");
  return count;
}

test("when keys are forgotten, the signer forgets what it derived from them", async () => {
  const upstream = upstreamAt("http://127.0.0.1:9/model", {
    auth: "sigv4",
    region: "eu-west-1",
    apis: ["bedrock"],
  });
  const settings = prepareSettings({ ...defaultConfig, upstreams: { default: upstream } });
  prepareSigner(settings);
  const route = { method: "POST", auth: "sigv4" } as Parameters<typeof signHeaders>[1]["route"];
  const choice = { upstream, route, path: "/model/m/converse" } as Parameters<typeof signHeaders>[1];
  const payload = { sha256: createHash("sha256").digest("hex"), bytes: 0 };
  const secret = new AwsKeys({ ...KEYS, sessionToken: null }, null);
  await signHeaders(["host", "example.com"], choice, secret, payload, AT);
  assert.equal(await countHmacs(), 1);
  new Keyring(new MemoryKeys(), realClock, new MemoryLog()).forget();
  await setImmediate();
  assert.equal(await countHmacs(), 5);
});
