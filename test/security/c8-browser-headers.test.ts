// C8, power in a browser: headers with which an upstream could change what a browser does with 127.0.0.1 are not passed on; all others are.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readMessages } from "../helpers/client/http-messages.ts";
import { sendRaw } from "../helpers/client/raw-client.ts";
import { rawResponse } from "../helpers/upstream/raw-upstream.ts";
import { startGateWithRawUpstream } from "../helpers/gate/gate-with-upstream.ts";

const POWERFUL = [
  "Set-Cookie: a=b; Domain=127.0.0.1",
  "Set-Cookie: c=d; Path=/",
  "Set-Cookie2: e=f",
  "Strict-Transport-Security: max-age=31536000; includeSubDomains",
  'Clear-Site-Data: "*"',
  "Refresh: 0; url=https://evil.example/",
  'Alt-Svc: h3="evil.example:443"; ma=86400',
  "Access-Control-Allow-Origin: *",
  "Access-Control-Allow-Credentials: true",
  "Access-Control-Allow-Headers: *",
  "Access-Control-Allow-Methods: *",
  "Access-Control-Allow-Private-Network: true",
  "Access-Control-Expose-Headers: *",
  "Access-Control-Max-Age: 86400",
  "Access-Control-Anything-New: 1",
];

/** What official clients read (facts/clients.md section 5), and what means nothing to us. */
const HARMLESS = [
  "content-type: application/json",
  "request-id: req_1",
  "retry-after: 3",
  "x-should-retry: true",
  "anthropic-ratelimit-tokens-remaining: 7",
  "x-ratelimit-remaining-requests: 8",
  "location: https://elsewhere.example/v1/x",
  "cf-ray: 9",
  "vary: origin",
  "x-unknown: 1",
  "x-unknown: 2",
];

for (const spelling of ["as written", "in lower case", "in upper case"]) {
  for (const status of ["200 OK", "307 Temporary Redirect", "401 Unauthorized", "529 Overloaded"]) {
    test(`${status}, headers ${spelling}: those with power stay here, the others pass in their order`, async (t) => {
      const powerful = POWERFUL.map((line) => {
        const [name = "", ...value] = line.split(":");
        if (spelling === "as written") return line;
        return [spelling === "in lower case" ? name.toLowerCase() : name.toUpperCase(), ...value].join(":");
      });
      const fields = [...powerful.slice(0, 8), ...HARMLESS.slice(1), ...powerful.slice(8)];
      const { gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
        socket.write(rawResponse("{}", fields.map((line) => `${line}\r\n`).join(""), status));
      });
      const client = await sendRaw(t, gate.port);
      const [answer] = readMessages(await client.until(/\{\}$/)).messages;
      const ours = new Set(["content-length", "connection", "keep-alive"]);
      const passed = answer?.headers
        .filter(([name]) => !ours.has(name))
        .map(([name, value]) => `${name}: ${value}`);
      assert.deepEqual(passed, HARMLESS);
    });
  }
}
