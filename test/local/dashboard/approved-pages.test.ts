import assert from "node:assert/strict";
import { test } from "node:test";
import { ApprovedPages } from "../../../src/local/dashboard/approved-pages.ts";
import { openSession } from "../../helpers/gate/feeds.ts";

const MINUTES_5 = 300_000;

function start() {
  const clock = { at: 0, now: () => 0, monotonic: () => clock.at };
  return { clock, sessions: new ApprovedPages(clock) };
}

const ask = (sessions: ApprovedPages) => {
  const { session, ticket, code } = sessions.request(null, null);
  assert.equal(session, null);
  assert.ok(ticket !== null && code !== null);
  return { ticket, code };
};

test("a ticket waits until its code is approved, and is then exchanged for a session, which is valid until it is ended", () => {
  const { clock, sessions } = start();
  const { ticket, code } = ask(sessions);
  assert.match(code, /^[2-9A-HJ-NP-Z]{3}-[2-9A-HJ-NP-Z]{3}$/);
  assert.deepEqual(sessions.request(null, ticket), { session: null, ticket, code: null });
  assert.equal(sessions.approve(code), true);
  const { session, ...rest } = sessions.request(null, ticket);
  assert.ok(session !== null && session !== ticket);
  assert.deepEqual(rest, { ticket: null, code: null });
  assert.deepEqual([sessions.isValid(session), sessions.isValid(ticket)], [true, false]);
  assert.deepEqual(sessions.request(session, null), { session, ticket: null, code: null });
  clock.at += 100 * MINUTES_5;
  assert.equal(sessions.isValid(session), true);
});

test("a code lets in the page that shows it, and no other", () => {
  const { sessions } = start();
  const [own, attackers] = [ask(sessions), ask(sessions)];
  assert.notEqual(own.code, attackers.code);
  assert.equal(sessions.approve(own.code), true);
  assert.equal(sessions.request(null, attackers.ticket).session, null);
  assert.notEqual(sessions.request(null, own.ticket).session, null);
});

test("a ticket is exchanged once, and within five minutes of its approval", () => {
  const { clock, sessions } = start();
  const [used, late] = [ask(sessions), ask(sessions)];
  for (const { code } of [used, late]) assert.equal(sessions.approve(code), true);
  assert.notEqual(sessions.request(null, used.ticket).session, null);
  clock.at += MINUTES_5;
  for (const { ticket } of [used, late]) {
    const next = sessions.request(null, ticket);
    assert.ok(next.session === null && next.ticket !== ticket && next.code !== null);
  }
});

test("a code works once, within five minutes; the page then gets another", () => {
  const { clock, sessions } = start();
  const { code: used } = ask(sessions);
  assert.deepEqual([sessions.approve(used), sessions.approve(used)], [true, false]);
  const late = ask(sessions);
  clock.at += MINUTES_5;
  assert.equal(sessions.approve(late.code), false);
  const next = sessions.request(null, late.ticket);
  assert.notEqual(next.ticket, late.ticket);
  assert.equal(sessions.approve(next.code ?? ""), true);
});

test("no code is told of what a request names, whether as a session or as a ticket", () => {
  const { sessions } = start();
  const { ticket, code } = ask(sessions);
  assert.equal(sessions.request(null, ticket).code, null);
  const asSession = sessions.request(ticket, null);
  assert.ok(asSession.ticket !== ticket && asSession.code !== code);
});

test("a code may be typed in small letters, without its hyphen, and with spaces", () => {
  const { sessions } = start();
  for (const type of [
    (code: string) => code.toLowerCase(),
    (code: string) => code.replace("-", ""),
    (code: string) => ` ${code.replace("-", " ")} `,
  ]) {
    const { ticket, code } = ask(sessions);
    assert.equal(sessions.approve(type(code)), true);
    assert.notEqual(sessions.request(null, ticket).session, null);
  }
});

test("what is made up or empty is no session, no code and no page", () => {
  const { sessions } = start();
  const { ticket, code } = ask(sessions);
  const session = openSession(sessions);
  for (const wrong of ["", "x", "-", code, ticket, `${session}x`])
    assert.equal(sessions.isValid(wrong), false);
  for (const wrong of ["", "-", "ABC", `${code}2`, session, ticket])
    assert.equal(sessions.approve(wrong), false);
  for (const wrong of ["", "x", session]) assert.equal(sessions.isPage(wrong), false);
  assert.equal(sessions.isPage(sessions.pageKey), true);
  assert.equal(sessions.isPage(new ApprovedPages({ now: () => 0, monotonic: () => 0 }).pageKey), false);
});

test("all sessions can be ended, also those that wait for a person or for their page", () => {
  const { sessions } = start();
  const session = openSession(sessions);
  const [waiting, granted] = [ask(sessions), ask(sessions)];
  sessions.approve(granted.code);
  sessions.endAll();
  assert.deepEqual([sessions.isValid(session), sessions.approve(waiting.code)], [false, false]);
  assert.equal(sessions.request(null, granted.ticket).session, null);
});

test("what waits and what is approved is bounded: the oldest gives way", () => {
  const { sessions } = start();
  const first = ask(sessions);
  for (let at = 0; at < 16; at += 1) ask(sessions);
  assert.equal(sessions.approve(first.code), false);
  const granted = Array.from({ length: 17 }, () => ask(sessions));
  for (const { code } of granted.slice(1)) assert.equal(sessions.approve(code), true);
  const extra = ask(sessions);
  sessions.approve(extra.code);
  const isIn = ({ ticket }: typeof extra) => sessions.request(null, ticket).session !== null;
  assert.deepEqual(
    [granted[1], granted[2], extra].map((one) => one !== undefined && isIn(one)),
    [false, true, true],
  );
  const all = Array.from({ length: 33 }, () => openSession(sessions));
  assert.deepEqual([sessions.isValid(all[0] ?? ""), sessions.isValid(all[32] ?? "")], [false, true]);
});
