import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConnectResponse } from "../../../src/core/http/tunnel-response.ts";

const parse = (text: string) => parseConnectResponse(Buffer.from(text, "latin1"));

test("parses a CONNECT response up to its empty line, and leaves the bytes after it", () => {
  const head = "HTTP/1.1 200 Connection established\r\nvia: x\r\n\r\n";
  const response = { status: 200, acceptsBasicAuth: true, headBytes: head.length };
  assert.deepEqual(parse(head), response);
  assert.deepEqual(parse(`${head}\u0016\u0003\u0001`), response);
});

test("returns null until the head of a CONNECT response is complete", () => {
  const head = "HTTP/1.0 200\r\n\r\n";
  for (let length = 0; length < head.length; length += 1) assert.equal(parse(head.slice(0, length)), null);
  assert.deepEqual(parse(head), { status: 200, acceptsBasicAuth: true, headBytes: head.length });
});

const BASIC: [fields: string, acceptsBasicAuth: boolean][] = [
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

for (const [fields, acceptsBasicAuth] of BASIC) {
  test(`reads ${JSON.stringify(fields)} as ${acceptsBasicAuth ? "accepting" : "refusing"} basic authentication`, () => {
    const head = `HTTP/1.1 407 Who?\r\n${fields}\r\n`;
    assert.deepEqual(parse(head), { status: 407, acceptsBasicAuth, headBytes: head.length });
  });
}

test("reports not-http at the first byte that no HTTP response can have", () => {
  for (const text of ["S", "SSH-2.0-x", "HTTP/2", "HTTP/0.9 200\r\n\r\n", "\u0015\u0003\u0003", "<html>"]) {
    assert.equal(parse(text), "not-http", text);
  }
});

test("reports not-http for an invalid status line, and for a head that exceeds the limit", () => {
  for (const text of [
    "HTTP/1.1 OK\r\n\r\n",
    "HTTP/1.1  200 OK\r\n\r\n",
    "HTTP/1.2 200 OK\r\n\r\n",
    "HTTP/1.1 2000\r\n\r\n",
    // Nothing has to follow.
    "HTTP/1.1 OK\r\n",
  ]) {
    assert.equal(parse(text), "not-http", text);
  }
  const start = "HTTP/1.1 200 OK\r\nx: ";
  assert.equal(parse(start.padEnd(16 * 1024 - 1, "x")), null);
  assert.equal(parse(start.padEnd(16 * 1024, "x")), "not-http");
});
