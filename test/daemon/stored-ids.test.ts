import assert from "node:assert/strict";
import { test } from "node:test";
import { launchDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { service } from "../helpers/gate/gate-with-stored.ts";
import { startUpstream } from "../helpers/upstream/scripted-upstream.ts";

async function send(daemon: Daemon, method: string, path: string): Promise<unknown> {
  const isPost = method === "POST";
  const response = await fetch(daemon.url + path, {
    method,
    body: isPost ? "{}" : null,
    headers: isPost ? { "content-type": "application/json" } : {},
  });
  assert.equal(response.status, 200, await response.clone().text());
  return ((await response.json()) as { from: unknown }).from;
}

test("a daemon that follows one that was killed finds where a response is stored", async (t) => {
  const [a, b] = await Promise.all([startUpstream(t, service("a")), startUpstream(t, service("b"))]);
  const home = scratchDirectory(t);
  const upstreams = {
    a: { baseUrl: a.baseUrl, auth: "none" },
    b: { baseUrl: b.baseUrl, auth: "none" },
  };
  const config = { upstreams, tools: { codex: { upstreams: ["b"] } } };
  const first = launchDaemon(home, { config });
  t.after(() => first.kill());
  assert.equal(await send(await first.ready, "POST", "/t/codex/v1/responses"), "b");
  await first.kill();
  const second = launchDaemon(home, { config });
  t.after(() => second.kill());
  const daemon = await second.ready;
  assert.equal(await send(daemon, "GET", "/t/zed/v1/responses/resp_b"), "b");
  assert.equal(await send(daemon, "GET", "/t/zed/v1/responses/resp_other"), "a");
});
