import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { leaseToken } from "../../../src/adapters/control-socket.ts";
import { startLeaseHolder } from "../../helpers/process/lease-holder.ts";
import { launchDaemon, prepareHome, startDaemon } from "../../helpers/daemon/daemon.ts";
import { createToken } from "../../helpers/tools/create-token.ts";
import { freePort } from "../../helpers/process/free-port.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { waitUntil } from "../../helpers/async/wait-until.ts";

test("a leased token is valid while its holder lives, and is in no file", { timeout: 300_000 }, async (t) => {
  const daemon = await startDaemon(t, { config: { access: "token" } });
  const path = join(daemon.home, "run", "tollkeeper", "control.sock");
  const { token, hash } = createToken("codex");
  const { kill } = await startLeaseHolder(t, path, { tool: "codex", hash });
  const status = async () => {
    const res = await fetch(`${daemon.url}/t/zed/v1/models`, { headers: { "x-api-key": token } });
    await res.arrayBuffer();
    return res.status;
  };
  assert.equal(await status(), 200);
  assert.match((await daemon.command("status")).stdout, /^access .* 0 tokens registered, 1 leased$/m);
  const [record] = await daemon.ledger();
  assert.deepEqual([record?.tool, record?.tool_by], ["codex", "token"]);
  kill();
  const noLeases = async () => ((await daemon.status()).access.tokens.leased === 0 ? true : null);
  await waitUntil("the daemon to drop the lease", noLeases);
  assert.equal(await status(), 400);
});

test(
  "a daemon grants a limited number of leases, and says when it grants no more",
  { timeout: 300_000 },
  async (t) => {
    const daemon = await startDaemon(t, { config: { access: "token" } });
    const path = join(daemon.home, "run", "tollkeeper", "control.sock");
    for (let i = 0; i < 100; i += 1) {
      const lease = await leaseToken(path, "codex", createToken("codex").hash);
      t.after(() => lease?.release());
    }
    await assert.rejects(leaseToken(path, "codex", createToken("codex").hash), {
      message: "100 tokens are already leased",
    });
    assert.equal((await daemon.status()).access.tokens.leased, 100);
  },
);

test(
  "the token of a command under run is valid in the next daemon too, until the command ends",
  { timeout: 300_000 },
  async (t) => {
    const port = await freePort();
    const config = { access: "token", listen: { port } };
    const { home, env } = prepareHome(t, { config });
    const start = async () => {
      const { ready, kill } = launchDaemon(home, { config, port });
      t.after(kill);
      return ready;
    };
    const status = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const res = await fetch(`http://127.0.0.1:${port}/t/claude-code/v1/models`, { headers });
      await res.arrayBuffer();
      return res.status;
    };
    const first = await start();
    const script = 'echo "$ANTHROPIC_API_KEY"; read line';
    const child = spawn(process.execPath, [PROGRAM, "run", "--", "sh", "-c", script], {
      env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    t.after(() => child.kill("SIGKILL"));
    const token = String((await once(child.stdout, "data"))[0]).trim();
    assert.equal(await status(token), 200);
    await first.stop();
    const second = await start();
    await waitUntil("the lease from the second daemon", async () =>
      (await status(token)) === 200 ? true : null,
    );
    assert.equal((await second.status()).access.tokens.leased, 1);
    child.stdin.end();
    assert.deepEqual(await once(child, "exit"), [1, null]);
    await waitUntil("the lease to end", async () => ((await status(token)) === 400 ? true : null));
  },
);

test("a command under run ends normally when the daemon has stopped", { timeout: 300_000 }, async (t) => {
  const daemon = await startDaemon(t, { config: { access: "token" } });
  const child = spawn(process.execPath, [PROGRAM, "run", "--", "sh", "-c", "echo ready; read line; exit 7"], {
    env: daemon.env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  await daemon.stop();
  child.stdin.end("go on\n");
  assert.deepEqual(await once(child, "exit"), [7, null]);
});
