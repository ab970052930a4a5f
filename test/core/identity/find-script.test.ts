import assert from "node:assert/strict";
import { test } from "node:test";
import { findScript } from "../../../src/core/identity/find-script.ts";

for (const [argv, kind, text] of [
  ["node /usr/local/bin/qwen -p hello", "file", "/usr/local/bin/qwen"],
  ["/usr/bin/node --max-old-space-size=4096 --no-warnings cli.js", "file", "cli.js"],
  ["node --import tsx --require ./a.cjs cli.ts", "file", "cli.ts"],
  ["node --env-file .env report.js", "file", "report.js"],
  ["node -", null],
  ["node", null],
  ["bun run cli.ts", "file", "cli.ts"],
  ["/home/u/.bun/bin/bun cli.ts", "file", "cli.ts"],
  ["bun x promptfoo", "file", "promptfoo"],
  ["deno run -A cli.ts", "file", "cli.ts"],
  ["node /x/node_modules/.bin/ts-node --files report.ts", "file", "report.ts"],
  ["node /x/node_modules/tsx/dist/cli.mjs report.ts", "file", "report.ts"],
  ["node /x/node_modules/.bin/tsx", "file", "/x/node_modules/.bin/tsx"],
  ["python3 -m aider --model x", "module", "aider"],
  ["python3 -Im aider.main -c x", "module", "aider.main"],
  ["python3 -mcoverage run", "module", "coverage"],
  ["python3 -m", null],
  ["python3.11 -u /usr/bin/aider", "file", "/usr/bin/aider"],
  ["python -W ignore report.py", "file", "report.py"],
  ["python3 -I report.py /home/u/private", "file", "report.py"],
  ["python3 -P report.py /home/u/private", "file", "report.py"],
  ["deno run -W report.ts /home/u/private", "file", "report.ts"],
  ["deno run -c deno.json report.ts", "file", "report.ts"],
  ["perl -W report.pl /home/u/private", "file", "report.pl"],
  ["ruby -W report.rb /home/u/private", "file", "report.rb"],
  ["ruby -I lib report.rb", "file", "report.rb"],
  ["php -d memory_limit=1G report.php", "file", "report.php"],
  ["java -Xmx1g -cp lib/a.jar:lib/b.jar -jar report.jar", "file", "report.jar"],
  ["dotnet exec report.dll", "file", "report.dll"],
  ["ruby -w report.rb", "file", "report.rb"],
  ["/lib64/ld-linux-x86-64.so.2 --library-path /opt/lib /opt/report", "file", "/opt/report"],
  ["pi", "title", "pi"],
  ["npm exec something", "title", "npm"],
  ["", null],
] as const) {
  test(`finds ${text === undefined ? "no script" : `the ${kind} ${text}`} in the arguments "${argv}"`, () =>
    assert.deepEqual(findScript(argv.split(" ")), kind === null ? null : { kind, text }));
}

for (const argv of [
  "node -e PRIVATE cli.js",
  "node --eval PRIVATE",
  "node -p PRIVATE",
  "bun -e PRIVATE",
  "deno eval PRIVATE",
  "python3 -c PRIVATE",
  "python3 -Ic PRIVATE",
  "python3 -ucPRIVATE x.py",
  "perl -lne PRIVATE private.pl",
  "perl -E PRIVATE",
  "ruby -ne PRIVATE",
  "lua -e PRIVATE",
  "php -r PRIVATE private.php",
  "php --run PRIVATE",
]) {
  test(`takes nothing from a program that stands in the arguments: ${argv}`, () =>
    assert.equal(findScript(argv.split(" ")), null));
}

test("returns the first word of a title that stands in place of the arguments", () => {
  assert.deepEqual(findScript(["claude and a prompt", "", ""]), { kind: "title", text: "claude" });
});
