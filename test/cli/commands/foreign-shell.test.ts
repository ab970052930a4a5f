import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { prepareHome } from "../../helpers/daemon/daemon.ts";

for (const shell of ["nu", "xonsh", "elvish", "tcsh", "pwsh"]) {
  test(`connect writes no block that ${shell} cannot read, and env prints none`, async (t) => {
    const { home, command } = prepareHome(t, {
      config: { listen: { port: 4711 } },
      env: { SHELL: `/usr/bin/${shell}` },
    });
    const before = readdirSync(home);
    const connect = await command("connect", "copilot", "--model", "gpt-5", "--yes");
    assert.equal(connect.code, 1);
    assert.match(
      connect.stderr,
      new RegExp(
        `cannot write them in the language of your shell, ${shell}; nothing was changed\nhint: to see the variables, type: tollkeeper connect copilot --print\n {6}or for one run: tollkeeper run --tool copilot -- COMMAND$`,
        "m",
      ),
    );
    assert.ok(!existsSync(join(home, ".profile")));
    assert.deepEqual(readdirSync(home), before);
    const env = await command("env", "my-script");
    assert.deepEqual([env.code, env.stdout], [1, ""]);
    assert.match(
      env.stderr,
      new RegExp(`^error: your shell, ${shell}, cannot evaluate what env prints$`, "m"),
    );
    assert.match((await command("env", "my-script", "--shell", "sh")).stdout, /^export OPENAI_BASE_URL=/m);
    const print = await command("connect", "copilot", "--print", "--model", "gpt-5");
    assert.doesNotMatch(print.stdout, /\.profile/);
  });
}
