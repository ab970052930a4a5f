// What the commands say about a fallback, on a running daemon.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { post } from "../../helpers/gate/gate.ts";
import { freePort } from "../../helpers/process/free-port.ts";
import { respondWithMessage, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";

test("status shows the upstream that is skipped, and route --explain the attempt before", async (t) => {
  const spare = await startUpstream(t, respondWithMessage);
  const main = `http://127.0.0.1:${await freePort()}/v1`;
  const daemon = await startDaemon(t, {
    config: {
      upstreams: {
        main: { baseUrl: main, auth: "none", fallback: ["spare"] },
        spare: { baseUrl: spare.baseUrl, auth: "none" },
      },
    },
  });
  const ids = [];
  for (let request = 0; request < 4; request += 1) {
    const response = await post(daemon, "/t/zed/v1/messages", { model: "claude-sonnet-5" });
    await response.text();
    ids.push(response.headers.get("x-tollkeeper-attempts"));
  }
  const refused = "main;error=upstream_unreachable, spare;status=200";
  assert.deepEqual(ids, [refused, refused, refused, "main;error=circuit_open, spare;status=200"]);
  const { stdout } = await daemon.command("status");
  assert.match(
    stdout,
    /^ +skipped after repeated failures: requests go to its fallback, and one tries it again in \d+ s$/m,
  );
  const records = await daemon.ledger();
  assert.equal(records.length, 7);
  const second = records.find(({ attempt_of: of }) => of !== null);
  const route = await daemon.command("route", "--explain", second?.id ?? "");
  assert.match(route.stdout, /zed requested claude-sonnet-5 on \/messages, and spare served it\n/);
  assert.ok(route.stdout.includes(`tollkeeper route --explain ${second?.attempt_of}\n`));
  assert.match(route.stdout, /spare +a fallback of main: asked if main does nothing/);
});
