import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { MESSAGE_EVENTS } from "../helpers/upstream/scripted-upstream.ts";

/** What an upstream does with a request: sends these bytes (latin1) and closes, or something else. */
export type MaliciousUpstream = string | ((socket: Socket) => void);

const JSON_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
const SSE_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
const HINTS = "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n";
const CHUNKED = "transfer-encoding: chunked\r\n\r\n";

/** Sends bytes and resets the connection. */
const sendAndReset = (bytes: string) => (socket: Socket) =>
  void socket.write(bytes, "latin1", () => socket.resetAndDestroy());
/** Sends bytes and leaves the connection open. */
const sendAndStall = (bytes: string) => (socket: Socket) => void socket.write(bytes, "latin1");
/** Sends the same bytes every 20 ms until the connection is closed. */
const sendForever = (bytes: string) => (socket: Socket) => {
  const timer = setInterval(() => socket.write(bytes, "latin1"), 20);
  socket.once("close", () => clearInterval(timer));
};

/** Malicious upstreams by what they do. */
export const MALICIOUS_UPSTREAMS: Record<string, MaliciousUpstream> = {
  "closes the connection": "",
  "resets the connection": sendAndReset(""),
  "sends nothing": sendAndStall(""),
  "stops within its first line": sendAndStall("HTTP/1."),
  "stops within its head": sendAndStall(JSON_HEAD),
  "closes within its head": JSON_HEAD,
  "resets within its head": sendAndReset(JSON_HEAD),
  "stops within its body": sendAndStall(`${JSON_HEAD}content-length: 9\r\n\r\n{`),
  "closes within its body": `${JSON_HEAD}content-length: 9\r\n\r\n{`,
  "resets within its body": sendAndReset(`${JSON_HEAD}content-length: 9\r\n\r\n{`),
  "resets within a stream": sendAndReset(`${SSE_HEAD}${CHUNKED}5\r\ndata:\r\n`),
  "resets a stream without length": sendAndReset(`${SSE_HEAD}\r\n${MESSAGE_EVENTS[0]}`),
  "resets after its response": sendAndReset(`${JSON_HEAD}content-length: 2\r\n\r\n{}`),
  "has status 000": "HTTP/1.1 000 Zero\r\ncontent-length: 0\r\n\r\n",
  "has status 99": "HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n",
  "has status 999": "HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n",
  "has a negative status": "HTTP/1.1 -20 Odd\r\ncontent-length: 0\r\n\r\n",
  "has no status": "HTTP/1.1\r\n\r\n",
  "has no head": "\r\n\r\n",
  "greets as SMTP": "220 mail.example ESMTP\r\n",
  "responds in HTTP/0.9": "<html>hello</html>",
  "responds in HTTP/2": "\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x80\0\x04\0\x01\0\0\0\x05\0\xff\xff\xff",
  "responds in TLS": "\x15\x03\x03\0\x02\x02\x46",
  "has two lengths": `${JSON_HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\nab`,
  "has a length and chunks": `${JSON_HEAD}content-length: 2\r\n${CHUNKED}0\r\n\r\n`,
  "has a negative length": `${JSON_HEAD}content-length: -1\r\n\r\n`,
  "has a length too large for a number": `${JSON_HEAD}content-length: ${"9".repeat(40)}\r\n\r\n{}`,
  "has a chunk size that is not a number": `${JSON_HEAD}${CHUNKED}zz\r\n{}\r\n`,
  "has a chunk size too large for a number": `${JSON_HEAD}${CHUNKED}${"f".repeat(40)}\r\n{}\r\n`,
  "has a chunk without an end": `${JSON_HEAD}${CHUNKED}2\r\n{}xx\r\n0\r\n\r\n`,
  "has malformed trailers": `${JSON_HEAD}${CHUNKED}2\r\n{}\r\n0\r\ncontent-length: 7\r\n\0: x\r\n\r\n`,
  "has another transfer encoding": `${JSON_HEAD}transfer-encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  "has NUL in a header": `${JSON_HEAD}x-y: a\0b\r\ncontent-length: 2\r\n\r\n{}`,
  "has a bare CR in a header": `${JSON_HEAD}x-y: a\rb\r\ncontent-length: 2\r\n\r\n{}`,
  "folds a header": `${JSON_HEAD}x-y: a\r\n b\r\ncontent-length: 2\r\n\r\n{}`,
  "has a header without a name": `${JSON_HEAD}: a\r\ncontent-length: 2\r\n\r\n{}`,
  "has ten thousand headers": `${JSON_HEAD}${"x: y\r\n".repeat(10_000)}content-length: 2\r\n\r\n{}`,
  "has a header of a megabyte": `${JSON_HEAD}x: ${"y".repeat(1_000_000)}\r\ncontent-length: 2\r\n\r\n{}`,
  "has a request id of 8 KB": `${JSON_HEAD}request-id: ${"y".repeat(8_000)}\r\ncontent-length: 2\r\n\r\n{}`,
  "has a reason phrase of control characters": "HTTP/1.1 200 \x01\x7f\xff\r\ncontent-length: 2\r\n\r\n{}",
  "has a malformed content type": 'HTTP/1.1 200 OK\r\ncontent-type: \xff;;="\r\ncontent-length: 2\r\n\r\n{}',
  "switches protocols": "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
  "offers an upgrade": `${JSON_HEAD}upgrade: h2c\r\nconnection: upgrade\r\ncontent-length: 2\r\n\r\n{}`,
  "continues a thousand times": `${"HTTP/1.1 100 Continue\r\n\r\n".repeat(1000)}${JSON_HEAD}content-length: 2\r\n\r\n{}`,
  "sends a hundred early hints and nothing more": sendAndStall(HINTS.repeat(100)),
  "sends early hints forever": sendForever(HINTS),
  "drips its head forever": (socket) => {
    socket.write(JSON_HEAD + "x: ");
    sendForever("y")(socket);
  },
  "has a body with status 204": "HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n{}",
  "responds twice": `${JSON_HEAD}content-length: 2\r\n\r\n{}`.repeat(2),
  "sends more after its response": `${JSON_HEAD}content-length: 2\r\n\r\n{}${"x".repeat(100_000)}`,
  "redirects to nowhere": "HTTP/1.1 302 Found\r\nlocation: http://[::::]/\r\ncontent-length: 0\r\n\r\n",
  "sets a thousand cookies": `${JSON_HEAD}${"set-cookie: a=b\r\n".repeat(500)}content-length: 2\r\n\r\n{}`,
  "has a body that is not gzip": `${JSON_HEAD}content-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}`,
  "has a truncated gzip body": sendAndReset(
    `${SSE_HEAD}content-encoding: gzip\r\n\r\n${gzipSync("data: x".repeat(99)).subarray(0, 15).toString("latin1")}`,
  ),
  "has unknown content encodings": `${JSON_HEAD}content-encoding: a, b;q=0\r\ncontent-length: 2\r\n\r\n{}`,
  "has an error body that is not gzip": `HTTP/1.1 500 No\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}`,
  "streams events that are not JSON": `${SSE_HEAD}${CHUNKED}12\r\ndata: {"type":{{{\n\n\r\n0\r\n\r\n`,
  "streams events that are not UTF-8": `${SSE_HEAD}${CHUNKED}a\r\ndata: \xff\xc0\n\n\r\n0\r\n\r\n`,
};
