// C8, headers that act in a browser: headers with which an upstream could change what a browser does with 127.0.0.1 are not passed on.
// All others are.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readMessages } from "../helpers/client/http-messages.ts";
import { sendRaw } from "../helpers/client/raw-client.ts";
import { rawResponse } from "../helpers/upstream/raw-upstream.ts";
import { startGateWithRawUpstream } from "../helpers/gate/gate-with-upstream.ts";

const ACTIVE = [
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
  'Proxy-Authenticate: Basic realm="evil"',
  "Proxy-Authentication-Info: nextnonce=1",
  "Service-Worker-Allowed: /",
  "Accept-CH: Sec-CH-UA-Model",
  "Critical-CH: Sec-CH-UA-Model",
  'Speculation-Rules: "/rules.json"',
  "Origin-Agent-Cluster: ?1",
  'Use-As-Dictionary: match="/*"',
  'Report-To: {"group":"g","max_age":9,"endpoints":[{"url":"https://evil.example/"}]}',
  'Reporting-Endpoints: g="https://evil.example/"',
  'NEL: {"report_to":"g","max_age":9}',
  "Set-Login: logged-in",
  "Activate-Storage-Access: load",
  'Secure-Session-Registration: (ES256);path="/"',
];

/** Headers that official clients read (docs/wire.md section 4), and unknown ones. */
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
    test(`of a ${status} with headers ${spelling} those that act in a browser are dropped and the others pass in order`, async (t) => {
      const active = ACTIVE.map((line) => {
        const [name = "", ...value] = line.split(":");
        if (spelling === "as written") return line;
        return [spelling === "in lower case" ? name.toLowerCase() : name.toUpperCase(), ...value].join(":");
      });
      const fields = [...active.slice(0, 8), ...HARMLESS.slice(1), ...active.slice(8)];
      const { gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
        socket.write(rawResponse("{}", fields.map((line) => `${line}\r\n`).join(""), status));
      });
      const client = await sendRaw(t, gate.port);
      const [response] = readMessages(await client.until(/\{\}$/)).messages;
      const ours = new Set(["content-length", "connection", "keep-alive"]);
      const passed = response?.headers
        .filter(([name]) => !ours.has(name))
        .map(([name, value]) => `${name}: ${value}`);
      assert.deepEqual(passed, HARMLESS);
    });
  }
}
