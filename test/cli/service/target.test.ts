import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readConfigFile } from "../../../src/adapters/config-file.ts";
import { serviceTarget } from "../../../src/cli/service/target.ts";
import { defaultConfig } from "../../../src/core/config/config.ts";
import { makeCertificate } from "../../helpers/upstream/certificate.ts";
import { scratchDirectory } from "../../helpers/keychain/keychain-session.ts";

const baseUrl = "https://api.example.com/v1";

test("what the service reads are the authorities and the key files that the configuration names, each once", async (t) => {
  const configFile = join(scratchDirectory(t), "config.jsonc");
  const { file: caFile } = makeCertificate(t, "DNS:api.example.com");
  const upstreams = {
    default: { baseUrl, keySource: { file: "/home/ada/.ssh/key" } },
    other: { baseUrl, keySource: { file: "/home/ada/.keys/other" } },
    elsewhere: { baseUrl: "https://api.example.org/v1", keySource: { file: "/home/ada/.keys/other" } },
    stored: { baseUrl },
  };
  writeFileSync(configFile, JSON.stringify({ outbound: { caFile }, upstreams }));
  const reading = await readConfigFile(configFile);
  assert.ok(reading.ok, JSON.stringify(reading));
  assert.deepEqual(serviceTarget(reading.config, configFile).target.reads, [
    caFile,
    "/home/ada/.ssh/key",
    "/home/ada/.keys/other",
  ]);
});

test("settings that need sight of other users or their processes are named, and no others", () => {
  const { access, ledger } = defaultConfig;
  for (const [changes, settings] of [
    [{}, []],
    [{ ledger: { ...ledger, project: true } }, ["ledger.project"]],
    [{ access: { ...access, peerUid: [100_999] } }, ["access.peerUid"]],
  ] as const) {
    const config = { ...defaultConfig, ...changes };
    const { target } = serviceTarget(config as typeof defaultConfig, "/home/ada/config.jsonc");
    assert.deepEqual(target.blindedSettings, settings);
  }
});
