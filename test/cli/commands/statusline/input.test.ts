import assert from "node:assert/strict";
import { test } from "node:test";
import { parseInput } from "../../../../src/cli/commands/statusline/input.ts";

/** What Claude Code 2.1.330 wrote, shortened. */
const RECORDED = {
  session_id: "972d9bd9-eef3-48a3-97bf-ef8881018099",
  cwd: "/home/ada/app",
  model: { id: "claude-opus-5-5", display_name: "Opus 5.5" },
  workspace: { current_dir: "/home/ada/app/src", project_dir: "/home/ada/app", added_dirs: [] },
  version: "2.1.330",
  cost: { total_cost_usd: 0.0787416, total_api_duration_ms: 452 },
};

const parse = (value: unknown) => parseInput(JSON.stringify(value));
const NOTHING = { session: null, model: null, directory: null };

test("Claude Code's session, model and directory are read", () => {
  assert.deepEqual(parse(RECORDED), { session: RECORDED.session_id, model: "Opus 5.5", directory: "src" });
});

test("what is missing is null, and what stands in for it is used", () => {
  assert.deepEqual(parse({ session_id: "s" }), { ...NOTHING, session: "s" });
  assert.deepEqual(parse({ cwd: "/a/b", model: { id: "m" } }), { session: null, model: "m", directory: "b" });
});

for (const text of ["", "{", "null", "[]", '"x"', '{"session_id":1,"model":"m","workspace":null,"cwd":""}'])
  test(`${text} says nothing`, () => assert.deepEqual(parseInput(text), NOTHING));
