import assert from "node:assert/strict";
import { test } from "node:test";
import { applyEdit, locate, NotLocated } from "./locate.ts";

const isNotLocated = (message: string) => (error: unknown) =>
  error instanceof NotLocated && error.message === message;

test("code is found by its text", () => {
  const source = "if (a) b();\nif (c) d();\n";
  assert.equal(applyEdit(source, { find: "if (c) d();", replace: "d();" }), "if (a) b();\nd();\n");
  assert.deepEqual(locate(source, { find: "if (c)", replace: "" }).renamed, []);
});

test("code is found whatever its line breaks, comments and trailing commas are", () => {
  const source = "f(\n  a, // the first\n  { b: [1, 2], },\n);\nf(b);";
  assert.equal(applyEdit(source, { find: "f(a, { b: [1, 2] })", replace: "g()" }), "g();\nf(b);");
  const line = "f(a, { b: [1, 2] });\nf(b);";
  assert.equal(
    applyEdit(line, { find: "f(\n  a,\n  { b: [\n1, 2,\n] },\n)", replace: "g()" }),
    "g();\nf(b);",
  );
});

test("code whose names have changed is found by its shape, and the replacement gets the new names", () => {
  const source = "if (this.#pool.lend(id) !== null) return `${id}`;";
  const edit = {
    find: "if (this.#store.lend(key) !== null) return `${key}`;",
    replace: "if (this.#store.has(key)) return this.#store.lend(`${key}`);",
  };
  assert.equal(applyEdit(source, edit), "if (this.#pool.has(id)) return this.#pool.lend(`${id}`);");
  assert.deepEqual(locate(source, edit).renamed, ["#store → #pool", "key → id"]);
});

test("code of the same form that has none of the names is other code", () => {
  const edit = { find: "else this.#res.destroy();", replace: "else this.#res.end();" };
  assert.throws(() => locate("else this.#deadline.restart();", edit), isNotLocated("not found"));
});

test("code whose names do not correspond one to one is not found", () => {
  assert.throws(() => locate("x(a, b)", { find: "x(a, a)", replace: "" }), isNotLocated("not found"));
  assert.throws(() => locate("x(a, a)", { find: "x(a, b)", replace: "" }), isNotLocated("not found"));
});

test("code is found after a property and a variable of the same name were renamed differently", () => {
  const edit = { find: "answer.answer(answer)", replace: "answer.answer()" };
  assert.equal(applyEdit("response.answer(response)", edit), "response.answer()");
});

test("code that begins with a renamed property is found", () => {
  const source = "isProbe(method, path); routes.match(method, path);";
  const edit = { find: "find(method, path);", replace: "find(method);" };
  assert.equal(
    applyEdit(source.replace("match", "find"), edit),
    "isProbe(method, path); routes.find(method);",
  );
  assert.throws(() => locate(source, edit), isNotLocated("found 2 times, in the lines 1, 1"));
});

test("code with other keywords, literals or punctuation is not found", () => {
  for (const source of ["a === 2", 'a === "1"', "a !== 1", "this === 1", "a === null"]) {
    assert.throws(() => locate(source, { find: "a === 1", replace: "" }), isNotLocated("not found"));
  }
});

test("of several matches, the one with the most unchanged names is found", () => {
  const source = "server.pause();\nsocket.stop();\nserver.close();";
  assert.deepEqual(locate(source, { find: "socket.halt();", replace: "" }).renamed, [".halt → .stop"]);
  assert.throws(
    () => locate(source, { find: "end();", replace: "" }),
    isNotLocated("found 3 times, in the lines 1, 2, 3"),
  );
});

test("a part of a literal is found by its text, and must be unique", () => {
  const source = 'const SCHEMES = /^(?:https?|wss?)$/; const NAME = "https?";';
  assert.match(applyEdit(source, { find: "https?|wss", replace: "https?" }), /\/\^\(\?:https\?\?\)\$\//);
  assert.throws(
    () => locate('"a (b", "a (b"', { find: "a (", replace: "" }),
    isNotLocated("found more than once"),
  );
});
