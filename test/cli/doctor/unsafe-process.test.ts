import assert from "node:assert/strict";
import { test } from "node:test";
import type { CheckedFinding } from "../../../src/cli/doctor/run.ts";
import { setUp } from "../../helpers/daemon/doctor.ts";
import { answerJson } from "../../helpers/upstream/scripted-upstream.ts";

for (const env of [
  { NODE_OPTIONS: "--inspect=0" },
  { NODE_DEBUG: "http" },
  { NODE_OPTIONS: "--heapsnapshot-signal=SIGUSR2" },
]) {
  test(`under ${JSON.stringify(env)} no key is read and none is sent, and the rest is looked at`, async (t) => {
    let asked = 0;
    const machine = await setUp(t, {
      env,
      upstream(_seen, res) {
        asked += 1;
        answerJson(res, { data: [] });
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
