import assert from "node:assert/strict";
import { test } from "node:test";
import { HeaderIndex } from "../../src/core/header-index.ts";
import { TokenGuard } from "../../src/proxy/token-guard.ts";
import { MemoryLog, MemoryTokens } from "../helpers/memory.ts";

const MOST_LOANS = 100;

function openGuard() {
  const tokens = new MemoryTokens();
  const guard = new TokenGuard(tokens, new MemoryLog());
  const ownerOf = (...headers: string[]) => guard.ownerOf(new HeaderIndex(headers));
  return { tokens, guard, ownerOf };
}

test("a lent token is its tool's until it is given back, however often that is said", () => {
  const { guard, ownerOf } = openGuard();
  const loans = [guard.lend("codex"), guard.lend("codex")];
  const [first, second] = loans.map(({ token }) => token);
  assert.ok(first !== undefined && second !== undefined && first !== second);
  assert.deepEqual([ownerOf("x-api-key", first), ownerOf("x-api-key", second)], ["codex", "codex"]);
  loans[0]?.giveBack();
  loans[0]?.giveBack();
  assert.deepEqual([ownerOf("x-api-key", first), ownerOf("x-api-key", second)], [null, "codex"]);
  assert.equal(guard.status.lent, 1);
});

test("a lent token outlives a change of the registered ones", () => {
  const { tokens, guard, ownerOf } = openGuard();
  const { token } = guard.lend("codex");
  const registered = tokens.add("zed");
  guard.reload();
  assert.deepEqual([ownerOf("x-api-key", token), ownerOf("x-api-key", registered)], ["codex", "zed"]);
  assert.deepEqual(guard.status, { registered: 1, lent: 1, problem: null });
});

test(`no more than ${MOST_LOANS} tokens are out at a time`, () => {
  const { guard } = openGuard();
  const loans = Array.from({ length: MOST_LOANS }, () => guard.lend("codex"));
  assert.throws(() => guard.lend("codex"), { name: "Failure", message: "100 tokens are lent already" });
  loans[0]?.giveBack();
  assert.match(guard.lend("codex").token, /^tollkeeper-codex-[\w-]{43}$/);
});

for (const name of ["", "Codex", "../x", "a b", "x".repeat(65)]) {
  test(`nothing is lent to "${name}", which is no tool's name`, () => {
    assert.throws(() => openGuard().guard.lend(name), { name: "Failure" });
  });
}

test("of two tokens the bearer's is the one that counts", () => {
  const { guard, ownerOf } = openGuard();
  const [codex, zed] = [guard.lend("codex").token, guard.lend("zed").token];
  assert.equal(ownerOf("x-api-key", zed, "authorization", `Bearer ${codex}`), "codex");
});
