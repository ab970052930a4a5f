import assert from "node:assert/strict";
import { test } from "node:test";
import { findScript } from "../../../src/core/identity/find-script.ts";

for (const [argv, script] of [
  ["node /usr/local/bin/qwen -p hello", "/usr/local/bin/qwen"],
  ["/usr/bin/node --max-old-space-size=4096 --no-warnings cli.js", "cli.js"],
  ["node --import tsx --require ./a.cjs cli.ts", "cli.ts"],
  ["node -e console.log(1) cli.js", null],
  ["node --eval console.log(1)", null],
  ["node -", null],
  ["node", null],
  ["bun run cli.ts", "cli.ts"],
  ["/home/u/.bun/bin/bun cli.ts", "cli.ts"],
  ["deno run -A cli.ts", "cli.ts"],
  ["python3 -m aider --model x", "aider"],
  ["python3.11 -u /usr/bin/aider", "/usr/bin/aider"],
  ["python -W ignore report.py", "report.py"],
  ["python3 -c print(1)", null],
  ["pi", "pi"],
  ["npm exec something", "npm"],
  ["", null],
] as const) {
  test(`finds ${script === null ? "no script" : `the script ${script}`} in the arguments "${argv}"`, () =>
    assert.equal(findScript(argv.split(" ")), script));
}

test("returns the first word of a title that stands in place of the arguments", () => {
  assert.equal(findScript(["claude and a prompt", "", ""]), "claude");
});
