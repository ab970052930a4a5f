import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { prepareHome, startDaemon } from "../../helpers/daemon/daemon.ts";
import { parseJsonOutput } from "../../helpers/daemon/json-output.ts";

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

test("token add prints only the token on standard output, and list and revoke know it by its ID", async (t) => {
  const { command, ...place } = prepareHome(t, { config: ASKED_FOR });
  const added = await command("token", "add", "Codex", "--note", "this laptop");
  assert.equal(added.code, 0);
  assert.match(added.stdout, TOKEN);
  const [, id = ""] = /token revoke codex --id ([0-9a-f]{8})\n$/.exec(added.stderr) ?? [];
  assert.equal(statSync(fileIn(place)).mode & 0o777, 0o600);

  const table = await command("token", "list");
  assert.match(
    table.stdout,
    new RegExp(`^id +tool +created +note\n${id} +codex +20\\S+ \\S+ +this laptop\n$`),
  );
  const [listed, ...more] = parseJsonOutput(
    (await command("token", "list", "--json")).stdout,
  ) as ListedToken[];
  assert.deepEqual(more, []);
  assert.ok(listed !== undefined && Date.parse(listed.createdAt) <= Date.now());
  assert.deepEqual(listed, { id, tool: "codex", createdAt: listed.createdAt, note: "this laptop" });

  assert.deepEqual(await command("token", "revoke", "codex"), {
    code: 0,
    stdout: "revoked 1 token of codex\n",
    stderr: "",
  });
  assert.equal(
    (await command("token", "list")).stdout,
    "There is no token. To make one for a tool, type for example:\n  tollkeeper token add my-script\n",
  );
  assert.equal((await command("token", "list", "--json")).stdout, "[]\n");
});

test("token revoke revokes all tokens of the tool, or one with --id", async (t) => {
  const { command } = prepareHome(t, { config: ASKED_FOR });
  for (const tool of ["codex", "codex", "codex", "zed"]) await command("token", "add", tool);
  const left = async () => {
    const { stdout } = await command("token", "list", "--json");
    return (parseJsonOutput(stdout) as ListedToken[]).map(({ id, tool }) => ({ id, tool }));
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

test("token revoke fails for a token that does not exist", async (t) => {
  const { command } = prepareHome(t, { config: ASKED_FOR });
  const hint = "hint: to see all tokens, type: tollkeeper token list\n";
  const revoked = await command("token", "revoke", "codex");
  assert.deepEqual(revoked, { code: 1, stdout: "", stderr: `error: the tool "codex" has no token\n${hint}` });
  await command("token", "add", "zed");
  const [zed] = parseJsonOutput((await command("token", "list", "--json")).stdout) as ListedToken[];
  const crossed = await command("token", "revoke", "codex", "--id", zed?.id ?? "");
  assert.deepEqual(
    [crossed.code, crossed.stderr],
    [1, `error: the tool "codex" has no token with the id ${zed?.id}\n${hint}`],
  );
  assert.match((await command("token", "list")).stdout, /zed/);
});

test("token add notes that no tool needs a token while access is open", async (t) => {
  const { command } = prepareHome(t, {});
  const { code, stdout, stderr } = await command("token", "add", "codex");
  assert.deepEqual([code, TOKEN.test(stdout)], [0, true]);
  assert.match(stderr, /note: "access" is "open", so no tool needs it yet; /);
});

test("a running daemon accepts a token from add to revoke", async (t) => {
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
    /^access +local token required; 1 token registered$/m,
  );
  await daemon.command("token", "revoke", "codex");
  assert.equal(await status(), 400);
  assert.match(
    (await daemon.command("status")).stdout,
    /^access +local token required; 0 tokens registered\n +register one with: tollkeeper token add TOOL$/m,
  );
  const records = (await daemon.ledger()).map(({ tool, tool_by, outcome }) => [tool, tool_by, outcome]);
  assert.deepEqual(records[0], ["codex", "token", "completed"]);
  assert.equal(records[1]?.[2], "rejected");
});

/** Matches the note about a change that the running daemon could not be told of. */
function daemonNotInformed(done: string): RegExp {
  return new RegExp(
    `note: ${done}, but the running daemon could not be notified: .*\\nnote: to make it reload the tokens, type: tollkeeper service restart`,
  );
}

test("tokens are added and revoked even if the daemon cannot be told, and a note says so", async (t) => {
  const place = prepareHome(t, { config: ASKED_FOR });
  const directory = join(place.env["XDG_RUNTIME_DIR"] ?? "", "tollkeeper");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const broken = createServer((_req, res) => res.writeHead(500).end("{}"));
  broken.listen(join(directory, "control.sock"));
  t.after(() => broken.close());
  await once(broken, "listening");
  const added = await place.command("token", "add", "codex");
  assert.equal(added.code, 0);
  assert.match(added.stdout, TOKEN);
  assert.match(added.stderr, daemonNotInformed("1 token registered"));
  const revoked = await place.command("token", "revoke", "codex");
  assert.deepEqual([revoked.code, revoked.stdout], [0, "revoked 1 token of codex\n"]);
  assert.match(revoked.stderr, daemonNotInformed("1 token revoked"));
  assert.equal(
    (await place.command("token", "list")).stdout,
    "There is no token. To make one for a tool, type for example:\n  tollkeeper token add my-script\n",
  );
});

/** Preloaded into the daemon: revokes all tokens when it opens its control socket, after it has read them. */
const REVOKING = `
  import fs from "node:fs";
  import net from "node:net";
  const { listen } = net.Server.prototype;
  net.Server.prototype.listen = function (...args) {
    if (typeof args[0]?.path === "string") fs.writeFileSync(process.env.TOKENS, '{"v":1,"tokens":[]}\\n');
    return listen.apply(this, args);
  };`;

test("a daemon refuses a token that was revoked while it started", async (t) => {
  const { home, command } = prepareHome(t, { config: ASKED_FOR });
  const token = (await command("token", "add", "codex")).stdout.trim();
  const preload = join(home, "revoking.mjs");
  writeFileSync(preload, REVOKING);
  const daemon = await startDaemon(t, {
    config: ASKED_FOR,
    env: {
      NODE_OPTIONS: `--import=${preload}`,
      TOKENS: fileIn({ home }),
      XDG_STATE_HOME: join(home, "state"),
    },
  });
  const { status } = await fetch(`${daemon.url}/v1/models`, { headers: { "x-api-key": token } });
  assert.equal(status, 400);
});

test("token list escapes control characters in a note", async (t) => {
  const { command } = prepareHome(t, { config: ASKED_FOR });
  await command("token", "add", "codex", "--note", "mine\n0badc0de  zed  forged");
  const { stdout } = await command("token", "list");
  assert.equal(stdout.trimEnd().split("\n").length, 2);
  assert.ok(stdout.includes(String.raw`mine\u000a0badc0de`));
});

test("a daemon reads the registered tokens when it starts and on SIGHUP", async (t) => {
  const { home, command } = prepareHome(t, { config: ASKED_FOR });
  const token = (await command("token", "add", "codex")).stdout.trim();
  const daemon = await startDaemon(t, { config: ASKED_FOR, env: { XDG_STATE_HOME: join(home, "state") } });
  const status = async () =>
    (await fetch(`${daemon.url}/v1/models`, { headers: { "x-api-key": token } })).status;
  assert.equal(await status(), 200);
  // This command runs with another runtime directory and does not reach the daemon.
  assert.equal((await command("token", "revoke", "codex")).code, 0);
  process.kill(daemon.pid, "SIGHUP");
  await daemon.waitForOutput(/reloaded configuration and keys/);
  assert.equal(await status(), 400);
});

for (const [what, args] of [
  ["no tool", ["add"]],
  ["an invalid tool name", ["add", "my tool"]],
  ["a token in place of a tool", ["revoke", `tollkeeper-codex-${"x".repeat(43)}`]],
  ["no subcommand", []],
] as const) {
  test(`token with ${what} is wrong usage`, async (t) => {
    const { command } = prepareHome(t, { config: ASKED_FOR });
    const { code, stdout, stderr } = await command("token", ...args);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /^error: [^]*\nhint: /);
    assert.ok(!stderr.includes("xxx"));
  });
}

test("token commands refuse an untrusted token file, with a fix, and leave it alone", async (t) => {
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
