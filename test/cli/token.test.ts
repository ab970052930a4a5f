import assert from "node:assert/strict";
import { mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { prepareHome, startDaemon } from "../helpers/daemon.ts";

const TOKEN = /^tollkeeper-codex-[\w-]{43}\n$/;
const ASKED_FOR = { access: "token" };

interface ListedToken {
  id: string;
  tool: string;
  createdAt: string;
  note: string | null;
}

function fileIn({ home }: { home: string }): string {
  return join(home, "state", "tollkeeper", "tokens.json");
}

test("a token is printed alone on standard output, listed by its id, revoked, and gone", async (t) => {
  const { command, ...place } = prepareHome(t, { config: ASKED_FOR });
  const added = await command("token", "add", "Codex", "--note", "this laptop");
  assert.equal(added.code, 0);
  assert.match(added.stdout, TOKEN);
  const [, id = ""] = /token revoke codex --id ([0-9a-f]{8})\n$/.exec(added.stderr) ?? [];
  assert.equal(statSync(fileIn(place)).mode & 0o777, 0o600);

  const table = await command("token", "list");
  assert.match(table.stdout, new RegExp(`^id +tool +made +for\n${id} +codex +20\\S+Z +this laptop\n$`));
  const [listed, ...more] = JSON.parse((await command("token", "list", "--json")).stdout) as ListedToken[];
  assert.deepEqual(more, []);
  assert.ok(listed !== undefined && Date.parse(listed.createdAt) <= Date.now());
  assert.deepEqual(listed, { id, tool: "codex", createdAt: listed.createdAt, note: "this laptop" });

  assert.deepEqual(await command("token", "revoke", "codex"), {
    code: 0,
    stdout: "revoked 1 token of codex\n",
    stderr: "",
  });
  assert.equal((await command("token", "list")).stdout, "no token is registered\n");
  assert.equal((await command("token", "list", "--json")).stdout, "[]\n");
});

test("revoke takes every token of the tool, or with --id the one", async (t) => {
  const { command } = prepareHome(t, { config: ASKED_FOR });
  for (const tool of ["codex", "codex", "codex", "zed"]) await command("token", "add", tool);
  const left = async () => {
    const { stdout } = await command("token", "list", "--json");
    return (JSON.parse(stdout) as ListedToken[]).map(({ id, tool }) => ({ id, tool }));
  };
  const [first, second, third, other] = await left();
  assert.ok(first && second && third && other);
  assert.equal(
    (await command("token", "revoke", "codex", "--id", second.id)).stdout,
    "revoked 1 token of codex\n",
  );
  assert.deepEqual(await left(), [first, third, other]);
  assert.equal((await command("token", "revoke", "codex")).stdout, "revoked 2 tokens of codex\n");
  assert.deepEqual(await left(), [other]);
});

test("to revoke what is not there is a failure, for it may be a slip of the pen", async (t) => {
  const { command } = prepareHome(t, { config: ASKED_FOR });
  const hint = "hint: see all of them with: tollkeeper token list\n";
  const revoked = await command("token", "revoke", "codex");
  assert.deepEqual(revoked, { code: 1, stdout: "", stderr: `error: codex has no token\n${hint}` });
  await command("token", "add", "zed");
  const [zed] = JSON.parse((await command("token", "list", "--json")).stdout) as ListedToken[];
  const crossed = await command("token", "revoke", "codex", "--id", zed?.id ?? "");
  assert.deepEqual([crossed.code, crossed.stderr], [1, `error: codex has no such token\n${hint}`]);
  assert.match((await command("token", "list")).stdout, /zed/);
});

test("where no token is asked for, add says so", async (t) => {
  const { command } = prepareHome(t, {});
  const { code, stdout, stderr } = await command("token", "add", "codex");
  assert.deepEqual([code, TOKEN.test(stdout)], [0, true]);
  assert.match(stderr, /note: no tool needs it yet, for "access" is "open"/);
});

test("a running daemon takes a token from when it is added to when it is revoked", async (t) => {
  const daemon = await startDaemon(t, { config: ASKED_FOR });
  const token = (await daemon.command("token", "add", "codex")).stdout.trim();
  const status = async () => {
    const res = await fetch(`${daemon.url}/v1/models`, { headers: { authorization: `Bearer ${token}` } });
    await res.arrayBuffer();
    return res.status;
  };
  assert.equal(await status(), 200);
  assert.match(
    (await daemon.command("status")).stdout,
    /^access +with a local token only; 1 token registered$/m,
  );
  await daemon.command("token", "revoke", "codex");
  assert.equal(await status(), 401);
  assert.match(
    (await daemon.command("status")).stdout,
    /^access +with a local token only; 0 tokens registered\n +register one with: tollkeeper token add TOOL$/m,
  );
  const records = (await daemon.ledger()).map(({ tool, tool_by, outcome }) => [tool, tool_by, outcome]);
  assert.deepEqual(records[0], ["codex", "token", "completed"]);
  assert.equal(records[1]?.[2], "rejected");
});

test("tokens of before are known to a daemon that starts, and to one that is told to read anew", async (t) => {
  const { home, command } = prepareHome(t, { config: ASKED_FOR });
  const token = (await command("token", "add", "codex")).stdout.trim();
  const daemon = await startDaemon(t, { config: ASKED_FOR, env: { XDG_STATE_HOME: join(home, "state") } });
  const status = async () =>
    (await fetch(`${daemon.url}/v1/models`, { headers: { "x-api-key": token } })).status;
  assert.equal(await status(), 200);
  // In its own surroundings it does not reach this daemon.
  assert.equal((await command("token", "revoke", "codex")).code, 0);
  process.kill(daemon.pid, "SIGHUP");
  await daemon.until(/keys are forgotten/);
  assert.equal(await status(), 401);
});

for (const [what, args] of [
  ["no tool", ["add"]],
  ["a name that is none", ["add", "my tool"]],
  ["a token for a tool", ["revoke", `tollkeeper-codex-${"x".repeat(43)}`]],
  ["no order", []],
] as const) {
  test(`${what} is wrong usage`, async (t) => {
    const { command } = prepareHome(t, { config: ASKED_FOR });
    const { code, stdout, stderr } = await command("token", ...args);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /^error: [^]*\nhint: /);
    assert.ok(!stderr.includes("xxx"));
  });
}

test("a file of tokens that cannot be trusted is told of with what mends it, and left alone", async (t) => {
  const { command, ...place } = prepareHome(t, { config: ASKED_FOR });
  const path = fileIn(place);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.real`, "", { mode: 0o600 });
  symlinkSync(`${path}.real`, path);
  for (const args of [["list"], ["add", "codex"], ["revoke", "codex"]]) {
    const { code, stdout, stderr } = await command("token", ...args);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.equal(stderr, `error: ${path} is not used: it is a symbolic link\nhint: rm '${path}'\n`);
  }
});
