// Problems that `service install` finds when it tries the sandbox, and one that the daemon finds later.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, beforeEach, test } from "node:test";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { CONFIG, service, UNITS } from "./service.ts";
import { SERVICE_USER } from "./service-user.ts";

beforeEach(() => service.removeAll());
after(() => service.removeAll());

const LEFT_OUT = "the sandbox of sandbox\\.conf does not work on this system and is left out: ";

const isSandboxed = () => existsSync(service.container.path(`${UNITS}/tollkeeper.service.d/sandbox.conf`));

/** A world-readable CA file that belongs to root. */
const ROOTS_FILE = "/etc/ssl/certs/ca-certificates.crt";

const CASES: { what: string; config: object; why: RegExp }[] = [
  {
    what: "a CA file of root's",
    config: { outbound: { caFile: ROOTS_FILE } },
    why: new RegExp(`${LEFT_OUT}${ROOTS_FILE} does not belong to you`),
  },
  {
    what: "a key below ~/.ssh",
    config: {
      upstreams: {
        default: {
          baseUrl: "http://127.0.0.1:9/v1",
          keySource: { file: `${SERVICE_USER.home}/.ssh/example` },
        },
      },
    },
    why: new RegExp(`${LEFT_OUT}EACCES.*/\\.ssh/example`),
  },
  {
    what: "a ledger below /tmp",
    config: { ledger: { directory: "/tmp/of-tk/ledger" } },
    why: new RegExp(`${LEFT_OUT}its directories cannot be mounted.*/tmp`),
  },
];

for (const { what, config, why } of CASES) {
  test(`with ${what}, install leaves the sandbox out and says why, and the service responds`, async () => {
    service.ownFile(`${SERVICE_USER.home}/.ssh/example`, "some-key\n");
    service.ownFile(CONFIG, JSON.stringify(config));
    assert.match(await service.mustRun("service", "install"), why);
    assert.equal(isSandboxed(), false);
    // 502, because nothing listens at the key's upstream.
    assert.ok([200, 502].includes(Number(await service.requestStatus())));
  });
}

test("with a default configuration file that belongs to root, install leaves the sandbox out", async () => {
  service.ownFile(CONFIG, "{}");
  for (const words of [
    ["chown", "root:"],
    ["chmod", "644"],
  ])
    await service.container.root(...words, CONFIG);
  assert.match(
    await service.mustRun("service", "install"),
    new RegExp(`${LEFT_OUT}${CONFIG} does not belong to you`),
  );
  assert.equal(await service.requestStatus(), 200);
});

test("a reload refuses a CA file of root's in the sandbox, and the suggested install fixes it", async () => {
  await service.mustRun("service", "install");
  assert.equal(isSandboxed(), true);
  service.ownFile(CONFIG, JSON.stringify({ outbound: { caFile: ROOTS_FILE } }));
  const status = await waitUntil("the refusal", async () => {
    const { stdout } = await service.tollkeeper("status");
    return /unknown in the service's sandbox/.test(stdout) ? stdout : null;
  });
  assert.match(status, /fix: tollkeeper service install/);
  await service.mustRun("service", "install");
  assert.equal(isSandboxed(), false);
  assert.doesNotMatch((await service.tollkeeper("status")).stdout, /unknown in the service's sandbox/);
});

test("the sandbox trial works with a space in the name of the home directory", async () => {
  const home = `${SERVICE_USER.home}/a b`;
  const state = `XDG_STATE_HOME=${SERVICE_USER.home}/.local/state`;
  // The user's systemd does not know of this home, so for the daemon its configuration is a named one, which must exist.
  service.ownFile(`${home}/.config/tollkeeper/config.jsonc`, "{}");
  const installed = await service.container.user(
    "env",
    `HOME=${home}`,
    state,
    "tollkeeper",
    "service",
    "install",
  );
  await service.container.root("rm", "-rf", home);
  assert.equal(installed.code, 0, installed.stdout + installed.stderr);
  assert.equal(isSandboxed(), true);
});
