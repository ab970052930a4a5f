import assert from "node:assert/strict";
import { test } from "node:test";
import { startDaemon } from "../../../helpers/daemon/daemon.ts";
import { PROGRAM } from "../../../helpers/daemon/program.ts";
import { FEEDS } from "../../../helpers/gate/feeds.ts";
import { noTerminal, runOnTerminal } from "../../../helpers/process/terminal.ts";

const TOKENS = { config: { access: { mode: "token" } } };

/** Requests a session as the page does. */
async function requestSession(
  url: string,
  ticket = "",
): Promise<Record<"session" | "ticket" | "code", string>> {
  const res = await fetch(`${url}${FEEDS}/session`, { headers: { "x-tollkeeper-ticket": ticket } });
  return (await res.json()) as Record<"session" | "ticket" | "code", string>;
}

async function readStatus(url: string, session: string): Promise<number> {
  const res = await fetch(`${url}${FEEDS}/status`, { headers: { "x-tollkeeper-session": session } });
  await res.text();
  return res.status;
}

test("prints the URL where there is no browser, and how a page is let in where that takes a code", async (t) => {
  const open = await startDaemon(t);
  const { code, stdout, stderr } = await open.command("dashboard", "--print");
  assert.deepEqual([code, stdout, stderr], [0, `${open.url}/\n`, ""]);
  const daemon = await startDaemon(t, TOKENS);
  for (const args of [["dashboard"], ["dashboard", "--print"]]) {
    const shown = await daemon.command(...args);
    assert.deepEqual([shown.code, shown.stdout], [0, `${daemon.url}/\n`]);
    assert.match(
      shown.stderr,
      /to let the page in, type the code that it shows: tollkeeper dashboard --approve CODE/,
    );
  }
});

test("--approve lets in the page that shows the code, and --logout ends its session", async (t) => {
  const daemon = await startDaemon(t, TOKENS);
  const { ticket, code } = await requestSession(daemon.url);
  const approved = await daemon.command("dashboard", "--approve", code.toLowerCase().replace("-", ""));
  assert.deepEqual([approved.code, approved.stdout], [0, "the page is approved\n"]);
  const { session } = await requestSession(daemon.url, ticket);
  assert.equal(await readStatus(daemon.url, session), 200);
  const again = await daemon.command("dashboard", "--approve", code);
  assert.equal(again.code, 1);
  assert.match(
    again.stderr,
    new RegExp(`^error: no page waits with the code ${code}: .*\nhint: .*--approve CODE\n$`),
  );
  await daemon.command("dashboard", "--logout");
  assert.equal(await readStatus(daemon.url, session), 401);
});

test("asks for the code in a terminal, where it may also be left out", { skip: noTerminal }, async (t) => {
  const daemon = await startDaemon(t, TOKENS);
  const ask = (typed: string) =>
    runOnTerminal([process.execPath, PROGRAM, "dashboard"], daemon, [["Code that the page shows: ", typed]]);
  const { ticket, code } = await requestSession(daemon.url);
  const left = await ask("\n");
  assert.equal(left.code, 0, left.text);
  assert.match(left.text, /dashboard --approve CODE\r\n$/);
  assert.equal((await requestSession(daemon.url, ticket)).session, null);
  const typed = await ask(`${code}\n`);
  assert.equal(typed.code, 0, typed.text);
  assert.match(typed.text, /the page is approved\r\n$/);
  const { session } = await requestSession(daemon.url, ticket);
  assert.equal(await readStatus(daemon.url, session), 200);
});
