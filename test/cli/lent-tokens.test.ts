import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { borrowToken } from "../../src/adapters/control-socket.ts";
import { startBorrower } from "../helpers/borrower.ts";
import { startDaemon } from "../helpers/daemon.ts";
import { until } from "../helpers/until.ts";

test(
  "a borrowed token is let in while its borrower lives, and is in no file",
  { timeout: 60_000 },
  async (t) => {
    const daemon = await startDaemon(t, { config: { access: "token" } });
    const path = join(daemon.home, "run", "tollkeeper", "control.sock");
    const { token, kill } = await startBorrower(t, path, "codex");
    const status = async () => {
      const res = await fetch(`${daemon.url}/t/zed/v1/models`, { headers: { "x-api-key": token } });
      await res.arrayBuffer();
      return res.status;
    };
    assert.equal(await status(), 200);
    assert.match((await daemon.command("status")).stdout, /^access .* 0 tokens registered, 1 lent$/m);
    const [record] = await daemon.ledger();
    assert.deepEqual([record?.tool, record?.tool_by], ["codex", "token"]);
    kill();
    const noLoans = async () => ((await daemon.status()).access.tokens.lent === 0 ? true : null);
    await until("the daemon to hear of it", noLoans);
    assert.equal(await status(), 401);
  },
);

test("a daemon lends so many tokens, and says when it lends no more", { timeout: 60_000 }, async (t) => {
  const daemon = await startDaemon(t, { config: { access: "token" } });
  const path = join(daemon.home, "run", "tollkeeper", "control.sock");
  for (let i = 0; i < 100; i += 1) {
    const loan = await borrowToken(path, "codex");
    t.after(() => loan?.giveBack());
  }
  await assert.rejects(borrowToken(path, "codex"), { message: "100 tokens are lent already" });
  assert.equal((await daemon.status()).access.tokens.lent, 100);
});
