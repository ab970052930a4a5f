import type { ServerResponse } from "node:http";
import { type Check, expect, expectSameBytes, REPORT, STOP } from "./check.ts";
import { valuesOf } from "./client.ts";
import { answerJson, EVENT_STREAM, type Script } from "./echo.ts";
import { exchange, post } from "./send.ts";
import { cutOddly, EVENTS, GZIPPED, ODD_JSON, randomWord } from "./samples.ts";

const answerBodies: Check = {
  name: "answer bodies",
  proves: "JSON, an event stream in odd pieces and an answer in gzip reach the client byte for byte",
  remedy: `tools would read other answers than the service gave; ${REPORT}`,
  async run(on) {
    const stream = Buffer.from(EVENTS.join(""));
    const forms: [form: string, body: Buffer, script: Script][] = [
      ["JSON", ODD_JSON, (res) => answerJson(res, ODD_JSON)],
      ["event stream", stream, (res) => void sendPieces(res.writeHead(200, EVENT_STREAM), cutOddly(stream))],
      ["gzip", GZIPPED, (res) => res.writeHead(200, { "content-encoding": "gzip" }).end(GZIPPED)],
    ];
    for (const [form, body, script] of forms) {
      const { answer } = await exchange(on, post("/v1/messages"), script);
      expectSameBytes(form, body, answer.body);
      const encoding = valuesOf(answer.headers, "content-encoding").join();
      expect(encoding === (form === "gzip" ? "gzip" : ""), `${form}: content-encoding is "${encoding}"`);
    }
  },
};

/** Each piece in a turn of its own, so that it is a chunk of its own. */
async function sendPieces(res: ServerResponse, pieces: readonly (Buffer | string)[]): Promise<void> {
  for (const piece of pieces) {
    res.write(piece);
    await new Promise(setImmediate);
  }
  res.end();
}

const ERROR_HEADERS: readonly (readonly [string, string])[] = [
  ["retry-after", "7"],
  ["retry-after-ms", "6543"],
  ["x-should-retry", "true"],
  ["anthropic-ratelimit-tokens-remaining", "0"],
  ["x-ratelimit-reset-requests", "1s"],
  ["request-id", "req_check"],
  ["x-request-id", "req_check_2"],
];

const errors: Check = {
  name: "errors",
  proves:
    "400, 401, 429 and 529 reach the client with body, retry, rate-limit and request-id headers, unrepeated",
  remedy: `tools would retry at the wrong time or show the wrong reason; ${REPORT}`,
  async run(on) {
    for (const status of [400, 401, 429, 529]) {
      const body = Buffer.from(`{"type":"error","error":{"type":"check_error","message":"é ${status}"}}`);
      const { answer } = await exchange(on, post("/v1/messages"), (res) =>
        res.writeHead(status, [["content-type", "application/json"], ...ERROR_HEADERS].flat()).end(body),
      );
      expect(answer.status === status, `${status} became ${answer.status}`);
      expectSameBytes(`body of ${status}`, body, answer.body);
      for (const [name, value] of ERROR_HEADERS) {
        const received = valuesOf(answer.headers, name).join(" and ");
        expect(received === value, `${status}: ${name} was "${value}" and became "${received}"`);
      }
    }
  },
};

const redirects: Check = {
  name: "redirects",
  proves: "a redirect is passed on to the client, never followed",
  remedy: `a redirect could take the key to another host; ${STOP}`,
  async run(on) {
    const location = `${on.echo.origin}/elsewhere`;
    const { answer } = await exchange(on, post("/v1/messages"), (res) =>
      res.writeHead(307, { location }).end(),
    );
    expect(answer.status === 307, `307 became ${answer.status}`);
    expect(valuesOf(answer.headers, "location").join() === location, "its location was changed");
  },
};

const hopByHop: Check = {
  name: "hop-by-hop headers",
  proves: "headers meant for one connection only, and those that Connection lists, end here, both ways",
  remedy: `a header could change the meaning of the next hop's; ${REPORT}`,
  async run(on) {
    const word = randomWord();
    const marks: [string, string][] = [
      ["connection", `keep-alive, x-${word}`],
      [`x-${word}`, "1"],
      ["proxy-connection", word],
    ];
    const request = post("/v1/messages", [...marks, ["te", "trailers"], ["keep-alive", "timeout=4711"]]);
    const { seen, answer } = await exchange(on, request, (res) => res.writeHead(200, marks.flat()).end("{}"));
    for (const [side, headers] of [
      ["the upstream", seen.headers],
      ["the client", answer.headers],
    ] as const) {
      const passed = headers.find((text) => text.includes(word) || text === "te" || text === "timeout=4711");
      expect(passed === undefined, `${passed} reached ${side}`);
    }
  },
};

/** What an upstream could do to a browser with a page on loopback (facts/threats.md A4 and C8). */
const POWERS = [
  ["access-control-allow-origin", "*"],
  ["access-control-allow-credentials", "true"],
  ["set-cookie", "check=1"],
  ["strict-transport-security", "max-age=1"],
  ["clear-site-data", '"*"'],
  ["refresh", "0"],
  ["alt-svc", "clear"],
] as const;

const grants: Check = {
  name: "no grants",
  proves: "no CORS grant, cookie or other power over a browser gets from the upstream to the client",
  remedy: `web pages could read your answers; ${STOP}`,
  async run(on) {
    const { answer } = await exchange(on, post("/v1/messages"), (res) =>
      res.writeHead(200, POWERS.flat()).end("{}"),
    );
    for (const [name] of POWERS) expect(valuesOf(answer.headers, name).length === 0, `${name} was passed on`);
  },
};

const keyInAnswers: Check = {
  name: "key in answers",
  proves: "an upstream that echoes the key gets it blotted out of reason, headers and error body",
  remedy: `any local program could read the key; ${STOP}`,
  async run(on) {
    const key = on.keyNamed(on.config.upstreams["default"]?.key ?? "");
    const { answer } = await exchange(on, post("/v1/messages"), (res) => {
      res.writeHead(401, `no ${key}`, { "x-echo": `Bearer ${key}`, "request-id": key });
      // Cut in the key's middle: it must be found across chunks.
      void sendPieces(res, [`{"error":{"message":"wrong key ${key.slice(0, 9)}`, `${key.slice(9)}"}}`]);
    });
    const places = { reason: answer.reason, body: answer.body.toString("latin1") };
    for (const [place, text] of Object.entries(places))
      expect(!text.includes(key), `it stands in the ${place}`);
    const at = answer.headers.findIndex((text) => text.includes(key));
    expect(at === -1, `it stands in the header ${answer.headers[at - 1]}`);
  },
};

/** What the upstream answers reaches the client as it was, but for what could do harm. */
export const ANSWER_CHECKS: readonly Check[] = [
  answerBodies,
  errors,
  redirects,
  hopByHop,
  grants,
  keyInAnswers,
];
