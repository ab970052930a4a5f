// SECURITY.md E10: what an agent may ask.
import assert from "node:assert/strict";
import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startMcp } from "../helpers/client/mcp.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { assertSameFigures, homeWithProjects, SINCE } from "../helpers/ledger/home-with-projects.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";

test("figures of other projects are refused, unless the command line allows all projects", async (t) => {
  const { env, args, shop, other, usage } = homeWithProjects(t);
  const { ask } = await startMcp(t, { env, args, cwd: shop });
  for (const project of [other, "*", `${shop}*`]) {
    const { text, document, isError } = await ask("project_cost", { since: SINCE, project });
    assert.ok(isError, project);
    assert.match(text, /^error: figures of other projects are not allowed\nhint: .*mcp --all-projects/);
    assert.deepEqual(document, {});
  }
  const session = await ask("session_cost", { session: "secret", since: SINCE });
  assert.match(session.text, /^error: no request of session secret is recorded/);
  const own = await ask("project_cost", { since: SINCE, by: "session,project", project: shop });
  assert.doesNotMatch(JSON.stringify(own), /secret|other/);
  const all = await startMcp(t, { env, args: [...args, "--all-projects"], cwd: shop });
  const everything = await all.ask("project_cost", { since: SINCE, by: "project", project: "*" });
  assertSameFigures(everything.document, await usage("--by", "project"));
  assert.equal((await all.ask("session_cost", { session: "secret", since: SINCE })).isError, false);
  // It does not mean all projects unless asked.
  assertSameFigures(
    (await all.ask("project_cost", { since: SINCE })).document,
    await usage("--by", "model", "--project", shop),
  );
});

test("a project whose path stands for those of others is refused", async (t) => {
  const { env, args, home } = homeWithProjects(t);
  const odd = join(home, "sh*p");
  mkdirSync(join(odd, ".git"), { recursive: true });
  const { ask } = await startMcp(t, { env, args, cwd: odd });
  const { text, isError } = await ask("project_cost", { since: SINCE });
  assert.ok(isError);
  assert.match(text, /has a "\*", which stands for any characters/);
});

test("budgets of other projects are left out, unless the command line allows all projects", async (t) => {
  const home = realpathSync(scratchDirectory(t));
  const [shop, other] = [join(home, "shop"), join(home, "other")];
  for (const root of [shop, other]) mkdirSync(root);
  const budgets = [{ usd: 3, per: "day" }];
  const projects = { [shop]: { budgets }, [other]: { budgets } };
  const daemon = await startDaemon(t, { config: { ledger: { project: true }, projects } });
  const args = ["--config", daemon.configFile];
  const { ask } = await startMcp(t, { env: daemon.env, args, cwd: shop });
  const own = JSON.stringify(await ask("budgets"));
  assert.ok(own.includes(shop) && !own.includes(other), own);
  const all = await startMcp(t, { env: daemon.env, args: [...args, "--all-projects"], cwd: shop });
  assert.ok(JSON.stringify(await all.ask("budgets")).includes(other));
});
