import { CHUNKED_HIDDEN, get, HIDDEN, post, refused, show, type SmugglingCase } from "./case.ts";

export const lines: SmugglingCase[] = [
  ["LF after the first line", get().replace("\r\n", "\n")],
  ["LF after every line", get("X: y\r\n").replaceAll("\r\n", "\n")],
  ["CR alone after every line", get("X: y\r\n").replaceAll("\r\n", "\r")],
  ["LF before the empty line", `${get("X: y").slice(0, -2)}\n\r\n`],
  ["an empty line of LF", `${get("X: y\r\n").slice(0, -2)}\n`],
  ["an empty line of CR and something else", `${get().slice(0, -1)}x\r\n\r\n`],
  ["a line without a colon", get("Content-Length\r\n")],
  ["a name that is empty", get(": y\r\n")],
  ["a name of a blank", get(" : y\r\n")],
  ["a blank before the colon", get("X : y\r\n")],
  ["a blank in a name", get("X y: z\r\n")],
  ["a NUL in a name", get("X\0: y\r\n")],
  ["a high byte in a name", get("X\xe9: y\r\n")],
  ["a slash in a name", get("X/y: z\r\n")],
  ["a NUL in a value", get("X: a\0b\r\n")],
  ["a CR in a value", get("X: a\rb\r\n")],
  ["an LF in a value", get("X: a\nb\r\n")],
  ["a DEL in a value", get("X: a\x7fb\r\n")],
  ["a folded value", get("X: a\r\n b\r\n")],
  ["a value folded by a tab", get("X: a\r\n\tb\r\n")],
  ["a line of blanks", get("X: a\r\n \r\n")],
  ["a fold before the first header", get().replace("Host", " Host")],
  ["two CR before an LF", get("X: a\r\r\n")],
].map(([name = "", bytes = ""]) => refused(name, bytes + HIDDEN));

export const firstLines: SmugglingCase[] = [
  "GET\t/v1/models\tHTTP/1.1",
  "GET /v1/models HTTP/1.1 ",
  "GET /v1/models HTTP/1.1 x",
  "GET /v1/models http/1.1",
  "GET /v1/models HTTP/01.1",
  "GET /v1/models HTTP/1.10",
  "GET /v1/models HTTP /1.1",
  "GET /v1/models HTTP/1,1",
  "GET /v1/models ICE/1.0",
  "GET /v1/models HTTP/1",
  "GET",
  "get /v1/models HTTP/1.1",
  "Get /v1/models HTTP/1.1",
  " GET /v1/models HTTP/1.1",
  "GET /v1/mod els HTTP/1.1",
  "GET /v1/models\0 HTTP/1.1",
  "GET /v1/models\r HTTP/1.1",
  "GET\0 /v1/models HTTP/1.1",
  "GET /v1/models HTTP/1.3",
  "GET /v1/models HTTP/9.9",
  "FOO /v1/models HTTP/1.1",
  "\ufeffGET /v1/models HTTP/1.1",
  "HTTP/1.1 200 OK",
].map((line) => refused(`the first line ${show(line)}`, get("", line) + HIDDEN));

/** Two spaces in the first line: RFC 9112 section 3 allows parsers to accept them, and the forwarded line has one. */
export const blanksInFirstLine: SmugglingCase[] = [
  "GET  /v1/models HTTP/1.1",
  "GET /v1/models  HTTP/1.1",
].map((line) => ({
  name: `the first line ${show(line)}`,
  parts: [get("", line) + HIDDEN],
  responses: [200, 403],
  forwarded: [""],
}));

export const versions: SmugglingCase[] = [
  refused("HTTP/0.9", "GET /v1/models\r\n\r\n", 403),
  refused("HTTP/1.0", get("", "GET /v1/models HTTP/1.0"), 505),
  refused("HTTP/1.0 with keep-alive", get("Connection: keep-alive\r\n", "GET /v1/models HTTP/1.0"), 505),
  refused(
    "HTTP/1.0 with a chunked body",
    post("Transfer-Encoding: chunked", CHUNKED_HIDDEN).replace("HTTP/1.1", "HTTP/1.0"),
  ),
  refused("no version", get("", "GET /v1/models") + HIDDEN, 505),
  refused("another protocol", get("", "GET /v1/models RTSP/1.0") + HIDDEN, 505),
  refused("HTTP/0.9 in words", get("", "GET /v1/models HTTP/0.9"), 505),
  refused("HTTP/2.0 in words", get("", "GET /v1/models HTTP/2.0"), 505),
  refused("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  refused("the hello of TLS", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03"),
  refused("absolute form", get("", "GET http://@host/v1/models HTTP/1.1"), 404),
  refused("absolute form with another host", get("", "GET http://hidden.example/v1/models HTTP/1.1"), 404),
  refused("headers of 70 KB", get(`X: ${"a".repeat(70_000)}\r\n`), 431),
  refused("20,000 headers", get("a: b\r\n".repeat(20_000)), 431),
];
