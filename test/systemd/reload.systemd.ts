// Changes of configuration, port and keys while the service runs in its sandbox.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { after, beforeEach, test, type TestContext } from "node:test";
import {
  sendJson,
  MESSAGE_EVENTS,
  SSE,
  startUpstream,
  type ScriptedUpstream,
} from "../helpers/upstream/scripted-upstream.ts";
import { sendRequest, createAgent, openResponse } from "./clients.ts";
import { CONFIG, PORT, service, URL } from "./service.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { SERVICE_USER } from "./service-user.ts";

const KEY = `${SERVICE_USER.home}/.keys/example`;
const OTHER_PORT = PORT + 1;

after(() => service.removeAll());

/** Starts an upstream that responds to everything with an empty list. */
function startEmptyUpstream(t: TestContext): Promise<ScriptedUpstream> {
  return startUpstream(t, (_seen, res) => sendJson(res, { data: [] }));
}

function configFor({ baseUrl }: ScriptedUpstream, port = PORT): string {
  return JSON.stringify({ listen: { port }, upstreams: { default: { baseUrl, keySource: { file: KEY } } } });
}

/** The ways in which editors and users change the contents of a file. */
const EDITS: Record<string, (text: string) => Promise<unknown> | void> = {
  "in place": (content) => service.ownFile(CONFIG, content),
  "by replacing the file, as editors do": (content) => {
    service.ownFile(`${CONFIG}.new`, content);
    return service.container.user("mv", `${CONFIG}.new`, CONFIG);
  },
  "by deleting and creating it": async (content) => {
    await service.container.user("rm", CONFIG);
    service.ownFile(CONFIG, content);
  },
  "by pointing a symbolic link elsewhere": (content) => {
    service.ownFile(`${SERVICE_USER.home}/dotfiles/other.jsonc`, content);
    return service.container.user("ln", "-sfn", `${SERVICE_USER.home}/dotfiles/other.jsonc`, CONFIG);
  },
};

beforeEach(async () => {
  await service.removeAll();
  service.ownFile(KEY, "the-first-key\n");
});

/** Sends requests until one of them arrives at this upstream. */
function waitForRequest(upstream: ScriptedUpstream): Promise<true> {
  return waitUntil("a request to the upstream", async () => {
    await sendRequest(createAgent(), `${URL}/v1/models`);
    return upstream.seen.length > 0 || null;
  });
}

for (const [how, edit] of Object.entries(EDITS)) {
  test(`after the configuration is edited ${how}, the next requests go to the new upstream`, async (t) => {
    const [first, second] = [await startEmptyUpstream(t), await startEmptyUpstream(t)];
    service.ownFile(CONFIG, configFor(first));
    await service.mustRun("service", "install");
    await waitForRequest(first);
    const pid = await service.pid();
    await edit(configFor(second));
    await waitForRequest(second);
    assert.equal(await service.pid(), pid);
  });
}

test("an invalid configuration changes nothing, and systemd's status text, the log and `status` report it", async (t) => {
  const upstream = await startEmptyUpstream(t);
  service.ownFile(CONFIG, configFor(upstream));
  await service.mustRun("service", "install");
  service.ownFile(CONFIG, `{ "listen": `);
  await waitUntil(
    "its status",
    async () => /cannot be applied/.test(await service.property("StatusText")) || null,
  );
  assert.equal(await service.requestStatus(), 200);
  assert.equal((await service.tollkeeper("status")).code, 1);
  const errors = (await service.journal()).filter(({ PRIORITY }) => PRIORITY === "3");
  assert.ok(errors.some(({ MESSAGE }) => /new configuration cannot be applied/.test(MESSAGE ?? "")));
});

test("`systemctl --user reload` reads the key again without interrupting a stream", async (t) => {
  const upstream = await startUpstream(t, (seen, res) => {
    if (seen.method === "GET") sendJson(res, { data: [] });
    else res.writeHead(200, SSE).write(MESSAGE_EVENTS[0]);
  });
  service.ownFile(CONFIG, configFor(upstream));
  await service.mustRun("service", "install");
  const stream = await openResponse(createAgent(), `${URL}/v1/messages`, {
    model: "claude-sonnet-5",
    stream: true,
  });
  service.ownFile(KEY, "the-second-key\n");
  await service.systemctl("reload", "tollkeeper.service");
  await waitUntil("a request with the second key", async () => {
    await sendRequest(createAgent(), `${URL}/v1/models`);
    return upstream.seen.some(({ headers }) => headers.authorization === "Bearer the-second-key") || null;
  });
  assert.deepEqual([upstream.seen[0]?.headers["x-api-key"], stream.complete], ["the-first-key", false]);
  assert.equal(await service.property("NRestarts"), "0");
});

test("after a change of port the daemon responds there too, and a stream on the old port finishes", async (t) => {
  const held: ServerResponse[] = [];
  const upstream = await startUpstream(t, (seen, res) => {
    if (seen.method === "GET") return sendJson(res, { data: [] });
    res.writeHead(200, SSE).write(MESSAGE_EVENTS[0]);
    held.push(res);
  });
  service.ownFile(CONFIG, configFor(upstream));
  await service.mustRun("service", "install");
  const stream = await openResponse(createAgent(), `${URL}/v1/messages`, {
    model: "claude-sonnet-5",
    stream: true,
  });
  service.ownFile(CONFIG, configFor(upstream, OTHER_PORT));
  const otherUrl = `http://localhost:${OTHER_PORT}/v1/models`;
  await waitUntil("a response on the other port", () =>
    sendRequest(createAgent(), otherUrl).then(
      ({ status }) => status === 200 || null,
      () => null,
    ),
  );
  held[0]?.end(MESSAGE_EVENTS.slice(1).join(""));
  assert.equal(await text(stream), MESSAGE_EVENTS.join(""));
  assert.match((await service.tollkeeper("service", "status")).stdout, /the configuration has 8656/);
  await service.mustRun("service", "install");
  assert.deepEqual(
    [await service.requestStatus(), (await sendRequest(createAgent(), otherUrl)).status],
    ["ECONNREFUSED", 200],
  );
});
