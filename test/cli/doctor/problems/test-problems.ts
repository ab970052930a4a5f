import assert from "node:assert/strict";
import { test } from "node:test";
import type { CheckedFinding } from "../../../../src/check/check.ts";
import { explainUnmaintainedNode } from "../../../../src/core/node-releases.ts";
import type { Problem } from "./problem.ts";

/** What doctor says of the Node that runs these tests; null for one that is maintained. */
const UNMAINTAINED_NODE = explainUnmaintainedNode(process.versions.node, Date.now());

const skipElsewhere =
  process.platform === "linux" ? false : "needs Linux: elsewhere the real keychain would be asked";

/** Makes a test of each problem: doctor reports it, its fix, and nothing else. */
export function testProblems(problems: readonly Problem[]): void {
  for (const { name, skip = skipElsewhere, build, finds } of problems) {
    test(`doctor reports exactly the problem and its fix when ${name}`, { skip }, async (t) => {
      const machine = await build(t);
      if (machine === null) return;
      const { code, stdout } = await machine.doctor("--json");
      const { checks } = JSON.parse(stdout) as { checks: CheckedFinding[] };
      const found = checks.filter(
        ({ verdict, message }) =>
          (verdict === "failure" || verdict === "warning") && message !== UNMAINTAINED_NODE,
      );
      const reported = found.map(({ verdict, id, message, fix }) => [
        machine.named(`${verdict} ${id}: ${message}`),
        machine.named(String(fix)),
      ]);
      for (const [what, fix] of reported) {
        t.diagnostic(`${what}`);
        t.diagnostic(`  -> ${fix}`);
      }
      assert.deepEqual(reported, finds);
      assert.equal(code, found.some(({ verdict }) => verdict === "failure") ? 1 : 0);
      assert.ok(!stdout.includes(machine.key), "the key is in doctor's output");
    });
  }
}
