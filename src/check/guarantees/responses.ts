import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { headerValues, post, type TestResponse } from "../client.ts";
import { assertSameBytes, firstKey, REPORT_IT, sendThrough, STOP_AND_REPORT } from "../guarantee.ts";
import type { Guarantee, IsolatedProxy } from "../guarantee.ts";
import { EVENT_STREAM, sendJson, type Responder } from "../recording-upstream.ts";
import { EVENTS, GZIPPED, ODD_JSON, randomWord, splitUnevenly } from "../samples.ts";

const ERROR_HEADERS: readonly (readonly [string, string])[] = [
  ["retry-after", "7"],
  ["retry-after-ms", "6543"],
  ["x-should-retry", "true"],
  ["anthropic-ratelimit-tokens-remaining", "0"],
  ["x-ratelimit-reset-requests", "1s"],
  ["request-id", "req_check"],
  ["x-request-id", "req_check_2"],
];

/** Response headers with which an upstream could affect a browser that has a page on loopback (SECURITY.md A4 and C8). */
const BROWSER_HEADERS = [
  ["access-control-allow-origin", "*"],
  ["access-control-allow-credentials", "true"],
  ["set-cookie", "check=1"],
  ["strict-transport-security", "max-age=1"],
  ["clear-site-data", '"*"'],
  ["refresh", "0"],
  ["alt-svc", "clear"],
] as const;

/** What the upstream sends reaches the client unchanged, except for what could do harm. */
export const RESPONSE_GUARANTEES: readonly Guarantee[] = [
  {
    name: "response bodies",
    proves: "JSON, an event stream in arbitrary pieces and a gzip response reach the client byte for byte",
    remedy: `tools would read different responses than the API sent; ${REPORT_IT}`,
    async verify(proxy) {
      const stream = Buffer.from(EVENTS.join(""));
      const chunks = splitUnevenly(stream);
      const forms: [form: string, body: Buffer, responder: Responder][] = [
        ["JSON", ODD_JSON, (res) => sendJson(res, ODD_JSON)],
        ["event stream", stream, (res) => void sendChunks(res.writeHead(200, EVENT_STREAM), chunks)],
        ["gzip", GZIPPED, (res) => res.writeHead(200, { "content-encoding": "gzip" }).end(GZIPPED)],
      ];
      for (const [form, body, responder] of forms) {
        const response = await receive(proxy, responder);
        assertSameBytes(form, body, response.body);
        const encoding = headerValues(response.headers, "content-encoding").join();
        const expected = form === "gzip" ? "gzip" : "";
        assert.ok(encoding === expected, `${form}: content-encoding is "${encoding}"`);
      }
    },
  },
  {
    name: "errors",
    proves:
      "400, 401, 429 and 529 reach the client with body, retry, rate-limit and request-id headers, without a retry",
    remedy: `tools would retry at the wrong time or show the wrong error; ${REPORT_IT}`,
    async verify(proxy) {
      for (const status of [400, 401, 429, 529]) {
        const body = Buffer.from(`{"type":"error","error":{"type":"check_error","message":"é ${status}"}}`);
        const response = await receive(proxy, (res) =>
          res.writeHead(status, [["content-type", "application/json"], ...ERROR_HEADERS].flat()).end(body),
        );
        assert.ok(response.status === status, `${status} became ${response.status}`);
        assertSameBytes(`body of ${status}`, body, response.body);
        for (const [name, value] of ERROR_HEADERS) {
          const received = headerValues(response.headers, name).join(" and ");
          assert.ok(received === value, `${status}: ${name} was "${value}" and became "${received}"`);
        }
      }
    },
  },
  {
    name: "redirects",
    proves: "a redirect is forwarded to the client, never followed",
    remedy: `a redirect could take the key to another host; ${STOP_AND_REPORT}`,
    async verify(proxy) {
      const location = `${proxy.upstream.origin}/elsewhere`;
      const response = await receive(proxy, (res) => res.writeHead(307, { location }).end());
      assert.ok(response.status === 307, `307 became ${response.status}`);
      assert.ok(headerValues(response.headers, "location").join() === location, "its location was changed");
    },
  },
  {
    name: "hop-by-hop headers",
    proves: "hop-by-hop headers, and those that Connection lists, are not forwarded in either direction",
    remedy: `a header could change how the next hop reads the message; ${REPORT_IT}`,
    async verify(proxy) {
      const word = randomWord();
      const marked: [string, string][] = [
        ["connection", `keep-alive, x-${word}`],
        [`x-${word}`, "1"],
        ["proxy-connection", word],
      ];
      const request = post("/v1/messages", [...marked, ["te", "trailers"], ["keep-alive", "timeout=4711"]]);
      const { received, response } = await sendThrough(proxy, request, (res) =>
        res.writeHead(200, marked.flat()).end("{}"),
      );
      const sides = { "the upstream": received.headers, "the client": response.headers };
      for (const [side, headers] of Object.entries(sides)) {
        const passed = headers.find(
          (text) => text.includes(word) || text === "te" || text === "timeout=4711",
        );
        assert.ok(passed === undefined, `${passed} reached ${side}`);
      }
    },
  },
  {
    name: "no grants",
    proves: "CORS grants, cookies and other headers that affect browsers are not forwarded to the client",
    remedy: `web pages could read your responses; ${STOP_AND_REPORT}`,
    async verify(proxy) {
      const response = await receive(proxy, (res) => res.writeHead(200, BROWSER_HEADERS.flat()).end("{}"));
      for (const [name] of BROWSER_HEADERS) {
        assert.ok(headerValues(response.headers, name).length === 0, `${name} was forwarded`);
      }
    },
  },
  {
    name: "key in responses",
    proves: "a key that the upstream echoes is redacted from reason phrase, headers and error body",
    remedy: `any local program could read the key; ${STOP_AND_REPORT}`,
    async verify(proxy) {
      const key = proxy.keyNamed(firstKey(proxy.config));
      const response = await receive(proxy, (res) => {
        res.writeHead(401, `no ${key}`, { "x-echo": `Bearer ${key}`, "request-id": key });
        // The key is split over two chunks: it must be found across them.
        void sendChunks(res, [`{"error":{"message":"wrong key ${key.slice(0, 9)}`, `${key.slice(9)}"}}`]);
      });
      const places = { reason: response.reason, body: response.body.toString("latin1") };
      for (const [place, text] of Object.entries(places)) {
        assert.ok(!text.includes(key), `it is in the ${place}`);
      }
      const at = response.headers.findIndex((text) => text.includes(key));
      assert.ok(at === -1, `it is in the header ${response.headers[at - 1]}`);
    },
  },
];

/** Sends a Messages request to which the upstream responds with `responder`, and returns the client's response. */
async function receive(proxy: IsolatedProxy, responder: Responder): Promise<TestResponse> {
  return (await sendThrough(proxy, post("/v1/messages"), responder)).response;
}

/** Writes each piece in an event-loop turn of its own, so that it is sent as a chunk of its own. */
async function sendChunks(res: ServerResponse, pieces: readonly (Buffer | string)[]): Promise<void> {
  for (const piece of pieces) {
    res.write(piece);
    await new Promise(setImmediate);
  }
  res.end();
}
