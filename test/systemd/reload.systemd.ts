// What changes while it runs, within the sandbox: configuration, port and keys.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { after, beforeEach, test, type TestContext } from "node:test";
import {
  answerJson,
  MESSAGE_EVENTS,
  SSE,
  startUpstream,
  type ScriptedUpstream,
} from "../helpers/upstream/scripted-upstream.ts";
import { ask, clientAgent, open } from "./clients.ts";
import { CONFIG, PORT, service, URL } from "./service.ts";
import { until } from "../helpers/async/until.ts";
import { USER } from "./user.ts";

const KEY = `${USER.home}/.keys/example`;
const OTHER_PORT = PORT + 1;

after(() => service.removeAll());

/** An upstream that answers everything with nothing. */
function startEmptyUpstream(t: TestContext): Promise<ScriptedUpstream> {
  return startUpstream(t, (_seen, res) => answerJson(res, { data: [] }));
}

function configFor({ baseUrl }: ScriptedUpstream, port = PORT): string {
  return JSON.stringify({ listen: { port }, upstreams: { default: { baseUrl, keySource: { file: KEY } } } });
}

/** The ways in which editors and people put another text into a file. */
const EDITS: Record<string, (text: string) => Promise<unknown> | void> = {
  "in place": (content) => service.ownFile(CONFIG, content),
  "as editors replace it": (content) => {
    service.ownFile(`${CONFIG}.new`, content);
    return service.container.user("mv", `${CONFIG}.new`, CONFIG);
  },
  "deleted and made anew": async (content) => {
    await service.container.user("rm", CONFIG);
    service.ownFile(CONFIG, content);
  },
  "by a symbolic link that points elsewhere": (content) => {
    service.ownFile(`${USER.home}/dotfiles/other.jsonc`, content);
    return service.container.user("ln", "-sfn", `${USER.home}/dotfiles/other.jsonc`, CONFIG);
  },
};

beforeEach(async () => {
  await service.removeAll();
  service.ownFile(KEY, "the-first-key\n");
});

/** Sends requests until one of them has arrived at this upstream. */
function untilItAsks(upstream: ScriptedUpstream): Promise<true> {
  return until("a request to the upstream", async () => {
    await ask(clientAgent(), `${URL}/v1/models`);
    return upstream.seen.length > 0 || null;
  });
}

for (const [how, edit] of Object.entries(EDITS)) {
  test(`the configuration edited ${how}: the next requests go to the new upstream`, async (t) => {
    const [first, second] = [await startEmptyUpstream(t), await startEmptyUpstream(t)];
    service.ownFile(CONFIG, configFor(first));
    await service.done("service", "install");
    await untilItAsks(first);
    const pid = await service.pid();
    await edit(configFor(second));
    await untilItAsks(second);
    assert.equal(await service.pid(), pid);
  });
}

test("a broken configuration changes nothing, and systemd's status, the log and `status` tell", async (t) => {
  const upstream = await startEmptyUpstream(t);
  service.ownFile(CONFIG, configFor(upstream));
  await service.done("service", "install");
  service.ownFile(CONFIG, `{ "listen": `);
  await until("its status", async () => /is not accepted/.test(await service.property("StatusText")) || null);
  assert.equal(await service.answer(), 200);
  assert.equal((await service.tollkeeper("status")).code, 1);
  const errors = (await service.journal()).filter(({ PRIORITY }) => PRIORITY === "3");
  assert.ok(errors.some(({ MESSAGE }) => /new configuration is not accepted/.test(MESSAGE ?? "")));
});

test("`systemctl --user reload`: the key is read anew, and a stream runs through it", async (t) => {
  const upstream = await startUpstream(t, (seen, res) => {
    if (seen.method === "GET") answerJson(res, { data: [] });
    else res.writeHead(200, SSE).write(MESSAGE_EVENTS[0]);
  });
  service.ownFile(CONFIG, configFor(upstream));
  await service.done("service", "install");
  const stream = await open(clientAgent(), `${URL}/v1/messages`, { model: "claude-sonnet-5", stream: true });
  service.ownFile(KEY, "the-second-key\n");
  await service.systemctl("reload", "tollkeeper.service");
  await until("a request with the second key", async () => {
    await ask(clientAgent(), `${URL}/v1/models`);
    return upstream.seen.some(({ headers }) => headers.authorization === "Bearer the-second-key") || null;
  });
  assert.deepEqual([upstream.seen[0]?.headers["x-api-key"], stream.complete], ["the-first-key", false]);
  assert.equal(await service.property("NRestarts"), "0");
});

test("another port: it answers there as well, and a stream on the old one runs to its end", async (t) => {
  const held: ServerResponse[] = [];
  const upstream = await startUpstream(t, (seen, res) => {
    if (seen.method === "GET") return answerJson(res, { data: [] });
    res.writeHead(200, SSE).write(MESSAGE_EVENTS[0]);
    held.push(res);
  });
  service.ownFile(CONFIG, configFor(upstream));
  await service.done("service", "install");
  const stream = await open(clientAgent(), `${URL}/v1/messages`, { model: "claude-sonnet-5", stream: true });
  service.ownFile(CONFIG, configFor(upstream, OTHER_PORT));
  const there = `http://localhost:${OTHER_PORT}/v1/models`;
  await until("an answer there", () =>
    ask(clientAgent(), there).then(
      ({ status }) => status === 200 || null,
      () => null,
    ),
  );
  held[0]?.end(MESSAGE_EVENTS.slice(1).join(""));
  assert.equal(await text(stream), MESSAGE_EVENTS.join(""));
  assert.match((await service.tollkeeper("service", "status")).stdout, /the configuration says 8656/);
  await service.done("service", "install");
  assert.deepEqual([await service.answer(), (await ask(clientAgent(), there)).status], ["ECONNREFUSED", 200]);
});
