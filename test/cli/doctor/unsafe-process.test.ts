import assert from "node:assert/strict";
import { test } from "node:test";
import type { CheckedFinding } from "../../../src/check/check.ts";
import { setUpMachine } from "../../helpers/daemon/machine.ts";
import { sendJson } from "../../helpers/upstream/scripted-upstream.ts";

for (const env of [
  { NODE_OPTIONS: "--inspect=0" },
  { NODE_DEBUG: "http" },
  { NODE_OPTIONS: "--heapsnapshot-signal=SIGUSR2" },
]) {
  test(`doctor with ${JSON.stringify(env)} reads and sends no key, and runs the checks that need none`, async (t) => {
    let asked = 0;
    const machine = await setUpMachine(t, {
      env,
      upstream(_seen, res) {
        asked += 1;
        sendJson(res, { data: [] });
      },
    });
    const { code, stdout, stderr } = await machine.doctor("--json");
    const { checks } = JSON.parse(stdout) as { checks: CheckedFinding[] };
    const verdictOf = (wanted: string) => checks.find(({ id }) => id === wanted)?.verdict;
    assert.deepEqual(
      ["node", "keychain", "keys", "upstreams", "configuration", "daemon", "port"].map(verdictOf),
      ["failure", "skipped", "skipped", "skipped", "ok", "ok", "ok"],
    );
    assert.equal(code, 1);
    assert.equal(asked, 0);
    assert.ok(!`${stdout}${stderr}`.includes(machine.key));
  });
}
