import assert from "node:assert/strict";
import { test } from "node:test";
import { DashboardSessions } from "../../../src/local/dashboard/sessions.ts";

function start() {
  const clock = { at: 0, now: () => 0, monotonic: () => clock.at };
  return { clock, sessions: new DashboardSessions(clock) };
}

test("a ticket is worth one session, once, within a minute", () => {
  const { clock, sessions } = start();
  const ticket = sessions.issueTicket();
  const session = sessions.exchange(ticket) ?? "";
  assert.equal(sessions.isValid(session), true);
  assert.equal(sessions.exchange(ticket), null);
  const late = sessions.issueTicket();
  clock.at += 60_000;
  assert.equal(sessions.exchange(late), null);
  assert.equal(sessions.isValid(session), true);
});

test("what is made up, empty or a ticket is no session", () => {
  const { sessions } = start();
  const ticket = sessions.issueTicket();
  for (const wrong of ["", "x", ticket, `${sessions.exchange(ticket)}x`])
    assert.equal(sessions.isValid(wrong), false);
  assert.equal(sessions.exchange(""), null);
});

test("all sessions and tickets can be ended", () => {
  const { sessions } = start();
  const session = sessions.exchange(sessions.issueTicket()) ?? "";
  const ticket = sessions.issueTicket();
  sessions.endAll();
  assert.deepEqual([sessions.isValid(session), sessions.exchange(ticket)], [false, null]);
});

test("tickets and sessions are bounded: the oldest gives way", () => {
  const { sessions } = start();
  const first = sessions.issueTicket();
  for (let at = 0; at < 16; at += 1) sessions.issueTicket();
  assert.equal(sessions.exchange(first), null);
  const all = Array.from({ length: 33 }, () => sessions.exchange(sessions.issueTicket()) ?? "");
  assert.deepEqual([sessions.isValid(all[0] ?? ""), sessions.isValid(all[32] ?? "")], [false, true]);
});
