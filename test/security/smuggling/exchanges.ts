import {
  CHUNKED_HELLO,
  CHUNKED_HIDDEN,
  get,
  HIDDEN,
  LENGTH,
  passes,
  post,
  refused,
  type SmugglingCase,
} from "./case.ts";

export const bodies: SmugglingCase[] = [
  passes(
    "a complete request within an announced body",
    post(`Content-Length: ${HIDDEN.length}`, HIDDEN),
    HIDDEN,
  ),
  refused("a length of 2^32 + 5", post("Content-Length: 4294967301", `hello${HIDDEN}`), 413),
  {
    name: "0.CL: a length of 0 before another request",
    parts: [post("Content-Length: 0", HIDDEN)],
    responses: [200, 403],
    forwarded: [""],
  },
  {
    name: "a POST without a length before another request",
    parts: [post("Accept: */*", HIDDEN)],
    responses: [200, 403],
    forwarded: [""],
  },
  refused("CL.0: a GET with a body", get(`Content-Length: ${HIDDEN.length}\r\n`) + HIDDEN),
  {
    name: "TE.0: a GET with a chunked body",
    parts: [get("Transfer-Encoding: chunked\r\n") + CHUNKED_HIDDEN],
    responses: [400, 403],
    forwarded: [],
  },
  refused(
    "CL.0: a body on an unknown path",
    post(LENGTH, CHUNKED_HIDDEN).replace("/v1/messages", "/v1/x"),
    404,
  ),
  refused(
    "CL.0: a body on a redirectable path",
    post(LENGTH, CHUNKED_HIDDEN).replace("/v1/messages", "/v1/messages/"),
    404,
  ),
  refused(
    "TE.0: OPTIONS with a chunked body",
    post("Transfer-Encoding: chunked", `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`).replace(
      "POST",
      "OPTIONS",
    ),
    405,
  ),
  refused("DELETE with a body", post(LENGTH, CHUNKED_HIDDEN).replace("POST", "DELETE"), 405),
  refused("TRACE with a body", post(LENGTH, CHUNKED_HIDDEN).replace("POST", "TRACE"), 405),
  {
    name: "CL.0: a HEAD probe with a body",
    parts: [get(`Content-Length: ${HIDDEN.length}\r\n`, "HEAD / HTTP/1.1") + HIDDEN],
    responses: [200],
    forwarded: [],
  },
];

export const connections: SmugglingCase[] = [
  passes("a request after empty lines", `\r\n\r\n${post("Content-Length: 5", "hello")}`, "hello"),
  {
    name: "two sequential requests",
    parts: [post("Content-Length: 1", "1"), post("Content-Length: 1", "2")],
    responses: [200, 200],
    forwarded: ["1", "2"],
  },
  {
    name: "two pipelined requests",
    parts: [post("Content-Length: 1", "1") + post("Content-Length: 1", "2")],
    responses: [200, 503],
    forwarded: ["1"],
  },
  {
    name: "a request after Connection: close",
    parts: [post("Connection: close\r\nContent-Length: 1", "1") + post("Content-Length: 1", "2")],
    responses: [400],
    forwarded: ["1"],
  },
  {
    name: "a request after the response to Connection: close",
    parts: [post("Connection: close\r\nContent-Length: 1", "1"), post("Content-Length: 1", "2")],
    responses: [200],
    forwarded: ["1"],
  },
  {
    name: "a request after a refused one",
    parts: [HIDDEN + post("Content-Length: 1", "1")],
    responses: [403],
    forwarded: ["1"],
  },
];

const waiting = (lines: string) => post(`Expect: 100-continue\r\n${lines}`, "");

export const expectations: SmugglingCase[] = [
  {
    name: "a body that waits for 100 Continue",
    parts: [waiting("Content-Length: 5"), "hello"],
    responses: [100, 200],
    forwarded: ["hello"],
  },
  {
    name: "a chunked body that waits for 100 Continue",
    parts: [waiting("Transfer-Encoding: chunked"), CHUNKED_HELLO],
    responses: [100, 200],
    forwarded: ["hello"],
  },
  {
    name: "a body that does not wait for 100 Continue",
    parts: [`${waiting("Content-Length: 5")}hello`],
    responses: [100, 200],
    forwarded: ["hello"],
  },
  {
    name: "an expectation without a body",
    parts: [waiting("Content-Length: 0")],
    responses: [100, 200],
    forwarded: [""],
  },
  {
    name: "an expectation with a request as the body",
    parts: [waiting(`Content-Length: ${HIDDEN.length}`), HIDDEN],
    responses: [100, 200],
    forwarded: [HIDDEN],
  },
  {
    name: "a body after a refused expectation",
    parts: [waiting(LENGTH).replace("/v1/messages", "/v1/x"), CHUNKED_HIDDEN],
    responses: [404],
    forwarded: [],
  },
  passes("an unknown expectation", post("Expect: 200-ok\r\nContent-Length: 5", "hello"), "hello"),
  {
    name: "an expectation beside another",
    parts: [post("Expect: y 100-continue\r\nContent-Length: 5", "hello")],
    responses: [100, 200],
    forwarded: ["hello"],
  },
  refused(
    "two expectations",
    post("Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 5", HIDDEN),
  ),
  refused("an expectation on a new line", post("Expect:\n100-continue\r\nContent-Length: 5", HIDDEN)),
  refused("a folded expectation", post("Expect:\r\n 100-continue\r\nContent-Length: 5", HIDDEN)),
  refused(
    "an expectation beside two lengths",
    post(`Expect: 100-continue\r\n${LENGTH}\r\nTransfer-Encoding: chunked`, CHUNKED_HIDDEN),
  ),
  refused(
    "an expectation on a GET with a body",
    get(`Expect: 100-continue\r\nContent-Length: ${HIDDEN.length}\r\n`) + HIDDEN,
  ),
];
