import assert from "node:assert/strict";
import { test } from "node:test";
import { startDaemon } from "../helpers/daemon.ts";
import { rawClient } from "../helpers/raw-client.ts";
import { readFilesBelow } from "./leak-search.ts";

const LINES = [
  "POST /v1/messages?q=MARK",
  "POST /v1/MARK",
  "GET /v1/messages?MARK",
  "POST http://MARK/v1/messages",
];

/** Each is a request whose every part says MARK, the parts that a client should keep to itself above all. */
function requestOf(line: string, port: number): string {
  const body = JSON.stringify({ model: "m", max_tokens: 1, messages: [{ role: "user", content: "MARK" }] });
  const headers = [
    `Host: 127.0.0.1:${port}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "Connection: close",
    "X-Api-Key: MARK",
    "Authorization: Bearer MARK",
    "Cookie: MARK",
    "X-MARK: MARK",
  ];
  return `${line} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n${body}`;
}

test("no header, body, query or path of a client is logged or recorded, not even with --debug", async (t) => {
  const daemon = await startDaemon(t, { args: ["--debug"] });
  for (const line of LINES) {
    const client = await rawClient(t, daemon.port);
    client.write(requestOf(line, daemon.port));
    await client.closed;
  }
  assert.equal(await daemon.stop(), 0);
  assert.match(daemon.stderr(), /"code":"not_found"/);
  assert.equal((await daemon.ledger()).length, 1);
  assert.doesNotMatch(daemon.stdout() + daemon.stderr(), /MARK/);
  for (const [path, text] of Object.entries(readFilesBelow(daemon.home, null))) {
    assert.doesNotMatch(text, /MARK/, path);
  }
});
