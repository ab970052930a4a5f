// Where a service gets its key from: the real keychain through D-Bus, from within the sandbox, and a credential of systemd's.
import assert from "node:assert/strict";
import { after, beforeEach, test, type TestContext } from "node:test";
import { sentinelKey } from "../helpers/keychain/key-command.ts";
import { answerJson, startUpstream, type ScriptedUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { ask, clientAgent } from "./clients.ts";
import { CONFIG, service, URL } from "./service.ts";
import { USER } from "./user.ts";

const LOGIN = "/org/freedesktop/secrets/collection/login";
const SECRETS = ["org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.Secret.Service"];

beforeEach(() => service.removeAll());
after(() => service.removeAll());

/** Runs a shell command as the user, which must succeed. */
async function shell(command: string): Promise<string> {
  const { code, stdout, stderr } = await service.container.user("sh", "-ec", command);
  assert.equal(code, 0, `${command}: ${stderr}`);
  return stdout;
}

async function startAskedUpstream(t: TestContext, keySource?: object): Promise<ScriptedUpstream> {
  const upstream = await startUpstream(t, (_seen, res) => answerJson(res, { data: [] }));
  service.ownFile(
    CONFIG,
    JSON.stringify({ upstreams: { default: { baseUrl: upstream.baseUrl, keySource } } }),
  );
  return upstream;
}

function keysSeen(upstream: ScriptedUpstream): unknown[] {
  return upstream.seen.map(({ headers }) => headers.authorization);
}

test("a key in gnome-keyring reaches the upstream, and neither journal nor environment; a locked keyring is told", async (t) => {
  await shell(`printf password | gnome-keyring-daemon --unlock --components=secrets`);
  const key = sentinelKey();
  const upstream = await startAskedUpstream(t);
  await shell(`printf '%s' ${key} | tollkeeper key set`);
  await service.done("service", "install");
  assert.equal(await service.answer(), 200);
  assert.deepEqual(keysSeen(upstream), [`Bearer ${key}`]);

  const { stdout: journal } = await service.container.root("journalctl", "--all", "--output=export");
  assert.ok(journal.includes("tollkeeper is ready"));
  assert.ok(!journal.includes(key));
  assert.ok(!service.container.read(`/proc/${await service.pid()}/environ`).includes(key));

  await shell(`busctl --user call ${SECRETS.join(" ")} Lock ao 1 ${LOGIN}`);
  await service.systemctl("restart", "tollkeeper.service");
  const refused = await ask(clientAgent(), `${URL}/v1/models`);
  assert.equal(refused.status, 503);
  assert.match(refused.body, /locked/);
  const status = await service.tollkeeper("status");
  assert.equal(status.code, 1);
  assert.match(status.stdout, /locked/);
});

test("LoadCredential=: the key in a file that systemd reads for it, as the unit's comment shows", async (t) => {
  const key = sentinelKey();
  const upstream = await startAskedUpstream(t, { credential: "example" });
  service.ownFile(`${USER.home}/.keys/example`, `${key}\n`);
  await service.override("LoadCredential=example:%h/.keys/example");
  await service.done("service", "install");
  assert.equal(await service.answer(), 200);
  assert.deepEqual(keysSeen(upstream), [`Bearer ${key}`]);
});
