import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { prepareHome } from "../../helpers/daemon/daemon.ts";

const VARIABLE = "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL";
const ANTHROPIC = { baseUrl: "https://api.anthropic.com/v1" };
const ELSEWHERE = { baseUrl: "https://router.example/v1" };

/** Settings of a person, in a home in which no daemon runs. */
const SETTINGS = '{\n  // mine\n  "model": "opus",\n}\n';

function prepare(t: TestContext, upstreams: object) {
  const machine = prepareHome(t, { config: { listen: { port: 4711 }, upstreams } });
  const settings = join(machine.home, ".claude", "settings.json");
  mkdirSync(join(machine.home, ".claude"));
  writeFileSync(settings, SETTINGS);
  return { ...machine, text: () => readFileSync(settings, "utf8") };
}

test("connect --first-party sets the variable, connect without it takes that off again, and disconnect restores the file", async (t) => {
  const { command, text } = prepare(t, { a: ANTHROPIC });
  const connect = (...more: string[]) => command("connect", "claude-code", "--yes", ...more);
  assert.equal((await connect()).code, 0);
  const plain = text();
  assert.ok(!plain.includes(VARIABLE));
  const asked = await connect("--first-party");
  assert.equal(asked.code, 0, asked.stderr);
  assert.match(asked.stdout, new RegExp(`^ {2}env\\.${VARIABLE}: \\w.+$`, "m"));
  assert.match(text(), new RegExp(`"${VARIABLE}": "1"`));
  assert.equal((await connect()).code, 0);
  assert.equal(text(), plain);
  assert.equal((await connect("--first-party")).code, 0);
  assert.equal((await command("disconnect", "claude-code", "--yes")).code, 0);
  assert.equal(text(), SETTINGS);
});

for (const [what, upstreams, why] of [
  ["another service after Anthropic's", { a: ANTHROPIC, r: ELSEWHERE }, 'its requests can go to "r", too'],
  [
    "a fallback to another service",
    { a: { ...ANTHROPIC, fallback: ["r"] }, r: { ...ELSEWHERE, models: ["x"] } },
    'its requests can go to "r", too',
  ],
  ["no service for the API", { a: { ...ANTHROPIC, apis: ["chat"] } }, "no upstream serves the Messages API"],
] as const) {
  test(`connect --first-party is refused with ${what}, and names it`, async (t) => {
    const { command, text } = prepare(t, upstreams);
    const { code, stderr } = await command("connect", "claude-code", "--first-party", "--yes");
    assert.equal(code, 1);
    assert.equal(
      stderr,
      `error: --first-party needs upstreams at api.anthropic.com alone, and ${why}; nothing was changed\n` +
        "hint: to connect it without --first-party, type: tollkeeper connect claude-code\n",
    );
    assert.equal(text(), SETTINGS);
  });
}

test("connect --first-party is refused for a tool that has no such mode", async (t) => {
  const { command } = prepare(t, { a: ANTHROPIC });
  const { code, stderr } = await command("connect", "codex", "--first-party", "--yes");
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: --first-party is for Claude Code, and means nothing to Codex\nhint: .*connect codex$/m,
  );
});
