// What `service install` finds out when it tries the sandbox, and what a daemon says that finds it out later.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, beforeEach, test } from "node:test";
import { until } from "../helpers/async/until.ts";
import { CONFIG, service, UNITS } from "./service.ts";
import { USER } from "./user.ts";

beforeEach(() => service.removeAll());
after(() => service.removeAll());

const LEFT_OUT = "the sandbox of sandbox\\.conf does not work here, and is left out: ";

const isSandboxed = () => existsSync(service.container.path(`${UNITS}/tollkeeper.service.d/sandbox.conf`));

/** A file of root's that everybody may read, and in which authorities are. */
const ROOTS_FILE = "/etc/ssl/certs/ca-certificates.crt";

const TRIED: { what: string; config: object; why: RegExp }[] = [
  {
    what: "certificates that are root's",
    config: { outbound: { caFile: ROOTS_FILE } },
    why: new RegExp(`${LEFT_OUT}${ROOTS_FILE} is not your own`),
  },
  {
    what: "a key below ~/.ssh",
    config: {
      upstreams: {
        default: { baseUrl: "http://127.0.0.1:9/v1", keySource: { file: `${USER.home}/.ssh/example` } },
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

for (const { what, config, why } of TRIED) {
  test(`${what}: the sandbox is left out, it is said why, and the service answers`, async () => {
    service.ownFile(`${USER.home}/.ssh/example`, "some-key\n");
    service.ownFile(CONFIG, JSON.stringify(config));
    assert.match(await service.done("service", "install"), why);
    assert.equal(isSandboxed(), false);
    // The key's upstream is not there.
    assert.ok([200, 502].includes(Number(await service.answer())));
  });
}

test("a configuration that is root's: the sandbox is left out, also when it is the default one", async () => {
  service.ownFile(CONFIG, "{}");
  for (const words of [
    ["chown", "root:"],
    ["chmod", "644"],
  ])
    await service.container.root(...words, CONFIG);
  assert.match(await service.done("service", "install"), new RegExp(`${LEFT_OUT}${CONFIG} is not your own`));
  assert.equal(await service.answer(), 200);
});

test("certificates of root's that a reload names: refused in the sandbox, and the installation that is advised mends it", async () => {
  await service.done("service", "install");
  assert.equal(isSandboxed(), true);
  service.ownFile(CONFIG, JSON.stringify({ outbound: { caFile: ROOTS_FILE } }));
  const said = await until("the refusal", async () => {
    const { stdout } = await service.tollkeeper("status");
    return /nobody in the sandbox/.test(stdout) ? stdout : null;
  });
  assert.match(said, /run `tollkeeper service install`/);
  await service.done("service", "install");
  assert.equal(isSandboxed(), false);
  assert.doesNotMatch((await service.tollkeeper("status")).stdout, /nobody in the sandbox/);
});

test("a home directory with a space in its name is tried as one word", async () => {
  const place = `${USER.home}/a b`;
  const state = `XDG_STATE_HOME=${USER.home}/.local/state`;
  const installed = await service.container.user(
    "env",
    `HOME=${place}`,
    state,
    "tollkeeper",
    "service",
    "install",
  );
  await service.container.root("rm", "-rf", place);
  assert.equal(installed.code, 0, installed.stdout + installed.stderr);
  assert.equal(isSandboxed(), true);
});
