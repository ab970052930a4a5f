import assert from "node:assert/strict";
import { test } from "node:test";
import { readConnectResponse } from "../../../src/core/http/connect-response.ts";

const read = (text: string) => readConnectResponse(Buffer.from(text, "latin1"));

test("an answer is read up to its empty line; what follows is not its own", () => {
  const head = "HTTP/1.1 200 Connection established\r\nvia: x\r\n\r\n";
  const answer = { status: 200, takesBasic: true, headBytes: head.length };
  assert.deepEqual(read(head), answer);
  assert.deepEqual(read(`${head}\u0016\u0003\u0001`), answer);
});

test("nothing is told of an answer before its head is whole", () => {
  const head = "HTTP/1.0 200\r\n\r\n";
  for (let length = 0; length < head.length; length += 1) assert.equal(read(head.slice(0, length)), null);
  assert.deepEqual(read(head), { status: 200, takesBasic: true, headBytes: head.length });
});

const BASIC: [fields: string, takesBasic: boolean][] = [
  ["Proxy-Authenticate: Basic realm=x\r\n", true],
  ["proxy-authenticate:basic\r\n", true],
  ["Proxy-Authenticate: Negotiate\r\nProxy-Authenticate: Basic realm=x\r\n", true],
  ["Proxy-Authenticate: NTLM, Basic realm=x\r\n", true],
  ["Proxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM\r\n", false],
  ["X-Note: Negotiate\r\n", true],
  ["Proxy-Authenticate: Negotiate\r\nX-Note: Basic\r\n", false],
  ["Proxy-Authenticate: Basically\r\n", false],
  ["", true],
];

for (const [fields, takesBasic] of BASIC) {
  test(`basic authentication is ${takesBasic ? "" : "not "}taken with ${JSON.stringify(fields)}`, () => {
    const head = `HTTP/1.1 407 Who?\r\n${fields}\r\n`;
    assert.deepEqual(read(head), { status: 407, takesBasic, headBytes: head.length });
  });
}

test("what is no HTTP answer is known from its first wrong byte", () => {
  for (const text of ["S", "SSH-2.0-x", "HTTP/2", "HTTP/0.9 200\r\n\r\n", "\u0015\u0003\u0003", "<html>"]) {
    assert.equal(read(text), "not-http", text);
  }
});

test("a status line that is none, and a head without end, are no HTTP answer", () => {
  for (const text of [
    "HTTP/1.1 OK\r\n\r\n",
    "HTTP/1.1  200 OK\r\n\r\n",
    "HTTP/1.2 200 OK\r\n\r\n",
    "HTTP/1.1 2000\r\n\r\n",
  ]) {
    assert.equal(read(text), "not-http", text);
  }
  const start = "HTTP/1.1 200 OK\r\nx: ";
  assert.equal(read(start.padEnd(16 * 1024 - 1, "x")), null);
  assert.equal(read(start.padEnd(16 * 1024, "x")), "not-http");
});
