// Row B10 in SECURITY.md, for budgets: what the managed file locks, no command lifts or resets.
import assert from "node:assert/strict";
import { test } from "node:test";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { managedMachine, MANAGED, noManagedConfig } from "../helpers/config/managed-config.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { post } from "../helpers/gate/gate.ts";

test(
  "no command lifts or resets a budget that is locked, and a lift from before the lock does not apply to it",
  { skip: noManagedConfig },
  async (t) => {
    const budgets = [{ tokens: 0, per: "day" }];
    const machine = managedMachine(t, { budgets });
    const own = [{ tokens: 0, per: "month" }];
    const daemon = await startDaemon(t, {
      launcher: machine.launcher,
      config: { tools: { codex: { budgets: own } } },
    });
    const command = (...args: string[]) =>
      machine.command(daemon.env, ...args, "--config", daemon.configFile);
    const ask = async (tool: string) => (await post(daemon, `/t/${tool}/v1/messages`, { model: "m" })).text();
    assert.equal((await command("budget", "lift", "--all")).code, 0);
    assert.doesNotMatch(await ask("codex"), /budget/);
    machine.write({ budgets, locked: ["budgets"] });
    await waitUntil(
      "the lock",
      async () => (await daemon.status()).config.managed?.locked.length === 1 || null,
    );
    assert.match(
      await ask("codex"),
      /a budget is spent: 0 tokens per day for all tools together.*an administrator has locked it.*Type: tollkeeper budget"/,
    );
    const [lift, reset] = [
      await command("budget", "lift", "zed", "--new"),
      await command("budget", "reset", "all: tokens per day"),
    ];
    for (const [{ code, stderr }, deed] of [
      [lift, "lifted"],
      [reset, "reset"],
    ] as const) {
      assert.equal(code, 1);
      assert.match(
        stderr,
        new RegExp(
          `^error: the budget of 0 tokens per day for all tools together cannot be ${deed}: ${MANAGED} locks it\nhint: .*tollkeeper budget\n$`,
        ),
      );
    }
    // The user's own budget is lifted, and the command says which one is not.
    const { code, stdout, stderr } = await command("budget", "lift", "codex");
    assert.deepEqual(
      [code, stderr],
      [0, "not lifted, because an administrator has locked it: 0 tokens per day for all tools together\n"],
    );
    assert.match(stdout, /^Budgets for codex are lifted until/m);
    assert.match((await command("budget")).stdout, /^all tools +0 tokens per day +locked /m);
    assert.equal((await command("budget", "reset", "tool codex: tokens per month")).code, 0);
    assert.equal((await command("budget", "lift", "--all", "--end")).code, 0);
  },
);
