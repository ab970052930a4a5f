import assert from "node:assert/strict";
import { test } from "node:test";
import { DashboardSessions } from "../../../src/local/dashboard/sessions.ts";

const MINUTES_5 = 300_000;

function start() {
  const clock = { at: 0, now: () => 0, monotonic: () => clock.at };
  return { clock, sessions: new DashboardSessions(clock) };
}

/** Requests a session and approves it. */
function open(sessions: DashboardSessions): string {
  const { session, code } = sessions.request(null);
  assert.equal(sessions.approve(code ?? ""), true);
  return session;
}

test("a session is worth nothing until its code is approved, and then until it is ended", () => {
  const { clock, sessions } = start();
  const { session, code } = sessions.request(null);
  assert.match(code ?? "", /^[2-9A-HJ-NP-Z]{3}-[2-9A-HJ-NP-Z]{3}$/);
  assert.equal(sessions.isValid(session), false);
  assert.deepEqual(sessions.request(session), { session, code });
  assert.equal(sessions.approve(code ?? ""), true);
  assert.equal(sessions.isValid(session), true);
  assert.deepEqual(sessions.request(session), { session, code: null });
  clock.at += 100 * MINUTES_5;
  assert.equal(sessions.isValid(session), true);
});

test("a code lets in the page that shows it, and no other", () => {
  const { sessions } = start();
  const [own, attackers] = [sessions.request(null), sessions.request(null)];
  assert.notEqual(own.code, attackers.code);
  assert.equal(sessions.approve(own.code ?? ""), true);
  assert.deepEqual([sessions.isValid(own.session), sessions.isValid(attackers.session)], [true, false]);
});

test("a code works once, within five minutes; the page then gets another", () => {
  const { clock, sessions } = start();
  const { code: used } = sessions.request(null);
  assert.deepEqual([sessions.approve(used ?? ""), sessions.approve(used ?? "")], [true, false]);
  const late = sessions.request(null);
  clock.at += MINUTES_5;
  assert.equal(sessions.approve(late.code ?? ""), false);
  const next = sessions.request(late.session);
  assert.notEqual(next.session, late.session);
  assert.equal(sessions.approve(next.code ?? ""), true);
});

test("a code may be typed in small letters, without its hyphen, and with spaces", () => {
  const { sessions } = start();
  for (const type of [
    (code: string) => code.toLowerCase(),
    (code: string) => code.replace("-", ""),
    (code: string) => ` ${code.replace("-", " ")} `,
  ]) {
    const { session, code } = sessions.request(null);
    assert.equal(sessions.approve(type(code ?? "")), true);
    assert.equal(sessions.isValid(session), true);
  }
});

test("what is made up or empty is no session, no code and no page", () => {
  const { sessions } = start();
  const { session, code } = sessions.request(null);
  for (const wrong of ["", "x", "-", code ?? "", `${session}x`]) assert.equal(sessions.isValid(wrong), false);
  for (const wrong of ["", "-", "ABC", `${code}2`, session]) assert.equal(sessions.approve(wrong), false);
  for (const wrong of ["", "x", session]) assert.equal(sessions.isPage(wrong), false);
  assert.equal(sessions.isPage(sessions.pageKey), true);
  assert.equal(sessions.isPage(new DashboardSessions({ now: () => 0, monotonic: () => 0 }).pageKey), false);
});

test("all sessions can be ended, also those that wait", () => {
  const { sessions } = start();
  const session = open(sessions);
  const { code } = sessions.request(null);
  sessions.endAll();
  assert.deepEqual([sessions.isValid(session), sessions.approve(code ?? "")], [false, false]);
});

test("what waits and what is approved is bounded: the oldest gives way", () => {
  const { sessions } = start();
  const first = sessions.request(null);
  for (let at = 0; at < 16; at += 1) sessions.request(null);
  assert.equal(sessions.approve(first.code ?? ""), false);
  const all = Array.from({ length: 33 }, () => open(sessions));
  assert.deepEqual([sessions.isValid(all[0] ?? ""), sessions.isValid(all[32] ?? "")], [false, true]);
});
