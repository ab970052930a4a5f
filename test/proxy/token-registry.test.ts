import assert from "node:assert/strict";
import { test } from "node:test";
import { HeaderIndex } from "../../src/core/http/header-index.ts";
import { TokenRegistry } from "../../src/proxy/token-registry.ts";
import { MemoryLog, MemoryTokens } from "../helpers/gate/memory.ts";
import { newToken } from "../helpers/tools/new-token.ts";

const MOST_LOANS = 100;

function openGuard() {
  const tokens = new MemoryTokens();
  const guard = new TokenRegistry(tokens, new MemoryLog());
  const lend = (tool: string) => {
    const { token, hash } = newToken(tool);
    return { token, hash, giveBack: guard.lend(tool, hash) };
  };
  const ownerOf = (...headers: string[]) => guard.ownerOf(new HeaderIndex(headers));
  return { tokens, guard, lend, ownerOf };
}

test("a lent token is its tool's until it is given back, however often that is said", () => {
  const { guard, lend, ownerOf } = openGuard();
  const loans = [lend("codex"), lend("codex")];
  const [first, second] = loans.map(({ token }) => token);
  assert.ok(first !== undefined && second !== undefined && first !== second);
  assert.deepEqual([ownerOf("x-api-key", first), ownerOf("x-api-key", second)], ["codex", "codex"]);
  loans[0]?.giveBack();
  loans[0]?.giveBack();
  assert.deepEqual([ownerOf("x-api-key", first), ownerOf("x-api-key", second)], [null, "codex"]);
  assert.equal(guard.status.lent, 1);
});

test("a lent token outlives a change of the registered ones", () => {
  const { tokens, guard, lend, ownerOf } = openGuard();
  const { token } = lend("codex");
  const registered = tokens.add("zed");
  guard.reload();
  assert.deepEqual([ownerOf("x-api-key", token), ownerOf("x-api-key", registered)], ["codex", "zed"]);
  assert.deepEqual(guard.status, { registered: 1, lent: 1, problem: null });
});

test(`no more than ${MOST_LOANS} tokens are out at a time`, () => {
  const { lend, ownerOf } = openGuard();
  const loans = Array.from({ length: MOST_LOANS }, () => lend("codex"));
  assert.throws(() => lend("codex"), { name: "Failure", message: "100 tokens are lent already" });
  loans[0]?.giveBack();
  assert.equal(ownerOf("x-api-key", lend("codex").token), "codex");
});

for (const name of ["", "Codex", "../x", "a b", "x".repeat(65)]) {
  test(`nothing is lent to "${name}", which is no tool's name`, () => {
    assert.throws(() => openGuard().lend(name), { name: "Failure" });
  });
}

test("the same token can be lent twice, and counts until both are given back", () => {
  const { guard, lend, ownerOf } = openGuard();
  const { token, hash, giveBack } = lend("codex");
  const giveBackAgain = guard.lend("codex", hash);
  giveBack();
  assert.equal(ownerOf("x-api-key", token), "codex");
  giveBackAgain();
  assert.equal(ownerOf("x-api-key", token), null);
});

for (const hash of ["", "0", "z".repeat(64), "0".repeat(63), `${"0".repeat(64)}\n`, "A".repeat(64)]) {
  test(`nothing is lent by ${JSON.stringify(hash)}, which is no hash`, () => {
    assert.throws(() => openGuard().guard.lend("codex", hash), { name: "Failure" });
  });
}

test("of two tokens the bearer's is the one that counts", () => {
  const { lend, ownerOf } = openGuard();
  const [codex, zed] = [lend("codex").token, lend("zed").token];
  assert.equal(ownerOf("x-api-key", zed, "authorization", `Bearer ${codex}`), "codex");
});
