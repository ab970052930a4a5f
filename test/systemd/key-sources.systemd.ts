// Sources of the service's key: the real keychain, through D-Bus from within the sandbox, and a systemd credential.
import assert from "node:assert/strict";
import { after, beforeEach, test, type TestContext } from "node:test";
import { sentinelKey } from "../helpers/keychain/key-command.ts";
import { sendJson, startUpstream, type ScriptedUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { sendRequest, createAgent } from "./clients.ts";
import { CONFIG, service, URL } from "./service.ts";
import { SERVICE_USER } from "./service-user.ts";

const LOGIN = "/org/freedesktop/secrets/collection/login";
const SECRETS = ["org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.Secret.Service"];

beforeEach(() => service.removeAll());
after(() => service.removeAll());

/** Runs a shell command, which must succeed, as the user, and returns its output. */
async function shell(command: string): Promise<string> {
  const { code, stdout, stderr } = await service.container.user("sh", "-ec", command);
  assert.equal(code, 0, `${command}: ${stderr}`);
  return stdout;
}

async function startEmptyUpstream(t: TestContext, keySource?: object): Promise<ScriptedUpstream> {
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, { data: [] }));
  service.ownFile(
    CONFIG,
    JSON.stringify({ upstreams: { default: { baseUrl: upstream.baseUrl, keySource } } }),
  );
  return upstream;
}

function keysSeen(upstream: ScriptedUpstream): unknown[] {
  return upstream.seen.map(({ headers }) => headers.authorization);
}

test("a key in gnome-keyring reaches the upstream but neither journal nor environment, and a locked keyring is reported", async (t) => {
  await shell(`printf password | gnome-keyring-daemon --unlock --components=secrets`);
  const key = sentinelKey();
  const upstream = await startEmptyUpstream(t);
  await shell(`printf '%s' ${key} | tollkeeper key set --no-test`);
  await service.mustRun("service", "install");
  assert.equal(await service.requestStatus(), 200);
  assert.deepEqual(keysSeen(upstream), [`Bearer ${key}`]);

  const { stdout: journal } = await service.container.root("journalctl", "--all", "--output=export");
  assert.ok(journal.includes("tollkeeper is ready"));
  assert.ok(!journal.includes(key));
  assert.ok(!service.container.read(`/proc/${await service.pid()}/environ`).includes(key));

  await shell(`busctl --user call ${SECRETS.join(" ")} Lock ao 1 ${LOGIN}`);
  await service.systemctl("restart", "tollkeeper.service");
  const refused = await sendRequest(createAgent(), `${URL}/v1/models`);
  assert.equal(refused.status, 400);
  assert.match(refused.body, /locked/);
  const status = await service.tollkeeper("status");
  assert.equal(status.code, 1);
  assert.match(status.stdout, /locked/);
});

test("a key from LoadCredential=, as shown in the unit's comment, reaches the upstream", async (t) => {
  const key = sentinelKey();
  const upstream = await startEmptyUpstream(t, { credential: "example" });
  service.ownFile(`${SERVICE_USER.home}/.keys/example`, `${key}\n`);
  await service.override("LoadCredential=example:%h/.keys/example");
  await service.mustRun("service", "install");
  assert.equal(await service.requestStatus(), 200);
  assert.deepEqual(keysSeen(upstream), [`Bearer ${key}`]);
});
