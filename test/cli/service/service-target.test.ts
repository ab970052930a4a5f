import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readConfigFile } from "../../../src/adapters/config-file.ts";
import { buildServiceTarget } from "../../../src/cli/service/service-target.ts";
import { defaultConfig } from "../../../src/core/config/config.ts";
import { makeCertificate } from "../../helpers/upstream/certificate.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const baseUrl = "https://api.example.com/v1";

test("trustedFiles lists the CA file and the key files of the configuration, each once", async (t) => {
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
  assert.deepEqual(buildServiceTarget(reading.config, configFile).target.trustedFiles, [
    caFile,
    "/home/ada/.ssh/key",
    "/home/ada/.keys/other",
  ]);
});

test("sandboxIncompatibleSettings lists ledger.project and access.peerUid when they are in use", () => {
  const { access, ledger } = defaultConfig;
  for (const [changes, settings] of [
    [{}, []],
    [{ ledger: { ...ledger, project: true } }, ["ledger.project"]],
    [{ access: { ...access, peerUid: [100_999] } }, ["access.peerUid"]],
  ] as const) {
    const config = { ...defaultConfig, ...changes };
    const { target } = buildServiceTarget(config as typeof defaultConfig, "/home/ada/config.jsonc");
    assert.deepEqual(target.sandboxIncompatibleSettings, settings);
  }
});
