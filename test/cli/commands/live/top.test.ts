import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { startDaemon } from "../../../helpers/daemon/daemon.ts";
import { PROGRAM } from "../../../helpers/daemon/program.ts";
import { post } from "../../../helpers/gate/gate.ts";
import { noTerminal, runOnTerminal } from "../../../helpers/process/terminal.ts";

const BODY = { model: "claude-sonnet-5", max_tokens: 8, messages: [{ role: "user", content: "hello" }] };
const ESC = "\u001b[";

test("without a terminal, top prints once what each tool has done in the last hour", async (t) => {
  const daemon = await startDaemon(t);
  await (await post(daemon, "/t/codex/v1/messages", BODY)).text();
  const { code, stdout, stderr } = await daemon.command("top");
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, new RegExp(`^tollkeeper at 127\\.0\\.0\\.1:${daemon.port}, \\d\\d:\\d\\d:\\d\\d\n`));
  assert.match(stdout, /^0 running, 1 request\/min, /m);
  assert.match(stdout, /^codex +1 /m);
  assert.match(stdout, /\nno request is running\n$/);
});

test("top without a running daemon fails and says how to start it", async (t) => {
  const daemon = await startDaemon(t);
  await daemon.stop();
  const { code, stderr } = await daemon.command("top");
  assert.equal(code, 1);
  assert.match(stderr, /^error: tollkeeper is not running\nhint: /);
});

for (const [what, command, shown] of [
  ["top", ["top"], "s: sort by cost"],
  ["status --watch", ["status", "--watch"], "    0 open"],
] as const) {
  for (const [how, key, expected] of [
    ["q", "q", 0],
    ["Ctrl-C", "\u0003", 130],
  ] as const) {
    test(`${what} takes the terminal over and gives it back on ${how}`, { skip: noTerminal }, async (t) => {
      const daemon = await startDaemon(t);
      const { code, text } = await runOnTerminal(
        [process.execPath, PROGRAM, ...command],
        { env: daemon.env },
        [[shown, key]],
      );
      assert.equal(code, expected);
      assert.ok(text.startsWith(`${ESC}?1049h`), JSON.stringify(text.slice(0, 40)));
      assert.ok(text.endsWith(`${ESC}?7h${ESC}?25h${ESC}?1049l`), JSON.stringify(text.slice(-40)));
    });
  }
}

test("top gives the terminal back on SIGTERM, too", { skip: noTerminal }, async (t) => {
  const daemon = await startDaemon(t);
  const killed = `"$@" </dev/null & read -r _; kill -TERM $!; wait $!`;
  const { code, text } = await runOnTerminal(
    ["/bin/sh", "-c", killed, "sh", process.execPath, PROGRAM, "top"],
    { env: daemon.env },
    [["s: sort by cost", "\r"]],
  );
  assert.equal(code, 143);
  assert.ok(text.endsWith(`${ESC}?7h${ESC}?25h${ESC}?1049l`), JSON.stringify(text.slice(-40)));
});

test("top's keys sort and filter", { skip: noTerminal }, async (t) => {
  const daemon = await startDaemon(t);
  for (const tool of ["codex", "zed"]) await (await post(daemon, `/t/${tool}/v1/messages`, BODY)).text();
  const { code, text } = await runOnTerminal([process.execPath, PROGRAM, "top"], { env: daemon.env }, [
    ["sort by cost", "s"],
    ["sort by running", "/"],
    ["filter by tool or model: _", "ze"],
    ["filter by tool or model: ze_", "\r"],
    ["filter: ze ", "p"],
    ["p: go on", "q"],
  ]);
  assert.equal(code, 0);
  const last = stripVTControlCharacters(text.slice(text.lastIndexOf(`${ESC}H`)));
  assert.match(last, /^zed /m);
  assert.doesNotMatch(last, /^codex /m);
});

test("status --watch needs a terminal", async (t) => {
  const daemon = await startDaemon(t);
  const { code, stderr } = await daemon.command("status", "--watch");
  assert.equal(code, 2);
  assert.match(stderr, /needs a terminal\nhint: in scripts, use: .* status --json/);
});
