import assert from "node:assert/strict";
import { test } from "node:test";
import { HeaderIndex } from "../../../src/core/http/header-index.ts";
import { TokenRegistry } from "../../../src/proxy/client/token-registry.ts";
import { MemoryLog, MemoryTokens } from "../../helpers/gate/memory.ts";
import { createToken } from "../../helpers/tools/create-token.ts";

const MAX_LEASES = 100;

function openRegistry() {
  const tokens = new MemoryTokens();
  const registry = new TokenRegistry(tokens, new MemoryLog());
  const lease = (tool: string) => {
    const { token, hash } = createToken(tool);
    return { token, hash, release: registry.lease(tool, hash) };
  };
  const ownerOf = (...headers: string[]) => registry.ownerOf(new HeaderIndex(headers));
  return { tokens, registry, lease, ownerOf };
}

test("a leased token belongs to its tool until its lease is released, and a second release changes nothing", () => {
  const { registry, lease, ownerOf } = openRegistry();
  const leases = [lease("codex"), lease("codex")];
  const [first, second] = leases.map(({ token }) => token);
  assert.ok(first !== undefined && second !== undefined && first !== second);
  assert.deepEqual([ownerOf("x-api-key", first), ownerOf("x-api-key", second)], ["codex", "codex"]);
  leases[0]?.release();
  leases[0]?.release();
  assert.deepEqual([ownerOf("x-api-key", first), ownerOf("x-api-key", second)], [null, "codex"]);
  assert.equal(registry.status.leased, 1);
});

test("a leased token stays valid when the registered tokens are reloaded", () => {
  const { tokens, registry, lease, ownerOf } = openRegistry();
  const { token } = lease("codex");
  const registered = tokens.add("zed");
  registry.reload();
  assert.deepEqual([ownerOf("x-api-key", token), ownerOf("x-api-key", registered)], ["codex", "zed"]);
  assert.deepEqual(registry.status, { registered: 1, leased: 1, problem: null });
});

test(`no more than ${MAX_LEASES} tokens can be leased at a time, and a released lease makes room for another`, () => {
  const { lease, ownerOf } = openRegistry();
  const leases = Array.from({ length: MAX_LEASES }, () => lease("codex"));
  assert.throws(() => lease("codex"), { name: "Failure", message: "100 tokens are already leased" });
  leases[0]?.release();
  assert.equal(ownerOf("x-api-key", lease("codex").token), "codex");
});

for (const name of ["", "Codex", "../x", "a b", "x".repeat(65)]) {
  test(`no token can be leased to "${name}", which is not a valid tool name`, () => {
    assert.throws(() => openRegistry().lease(name), { name: "Failure" });
  });
}

test("a token that was leased twice stays valid until both leases are released", () => {
  const { registry, lease, ownerOf } = openRegistry();
  const { token, hash, release } = lease("codex");
  const releaseSecond = registry.lease("codex", hash);
  release();
  assert.equal(ownerOf("x-api-key", token), "codex");
  releaseSecond();
  assert.equal(ownerOf("x-api-key", token), null);
});

for (const hash of ["", "0", "z".repeat(64), "0".repeat(63), `${"0".repeat(64)}\n`, "A".repeat(64)]) {
  test(`no token can be leased by ${JSON.stringify(hash)}, which is not a SHA-256 hash in lower-case hexadecimal`, () => {
    assert.throws(() => openRegistry().registry.lease("codex", hash), { name: "Failure" });
  });
}

test("a token in the authorization header takes precedence over one in x-api-key", () => {
  const { lease, ownerOf } = openRegistry();
  const [codex, zed] = [lease("codex").token, lease("zed").token];
  assert.equal(ownerOf("x-api-key", zed, "authorization", `Bearer ${codex}`), "codex");
});
