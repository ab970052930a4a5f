/** A client that breaks rules. */
export interface MaliciousClient {
  /** What it sends (latin1). */
  send(port: number): string[];
  /** How it disconnects: both directions, with a reset, or only its own direction. Unless given, it waits for the daemon to. */
  leave?: "leave" | "reset" | "half";
}

const post = (port: number, fields: string, path = "/v1/messages") =>
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n${fields}\r\n`;
const get = (port: number, fields = "", path = "/v1/models") =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${fields}\r\n`;

const CLOSE = "Connection: close\r\n";
const CHUNKED = "Transfer-Encoding: chunked\r\nConnection: close\r\n";

/** Malicious clients by what they do. */
export const MALICIOUS_CLIENTS: Record<string, MaliciousClient> = {
  "sends nothing and leaves": { send: () => [], leave: "leave" },
  "sends nothing and resets": { send: () => [], leave: "reset" },
  "sends nothing and half-closes": { send: () => [], leave: "half" },
  "leaves within its head": { send: (port) => [get(port).slice(0, 30)], leave: "leave" },
  "resets within its head": { send: (port) => [get(port).slice(0, 30)], leave: "reset" },
  "half-closes within its head": { send: (port) => [get(port).slice(0, 30)], leave: "half" },
  "leaves within its body": { send: (port) => [post(port, "Content-Length: 9\r\n"), "{"], leave: "leave" },
  "resets within its body": { send: (port) => [post(port, "Content-Length: 9\r\n"), "{"], leave: "reset" },
  "half-closes within its body": {
    send: (port) => [post(port, "Content-Length: 9\r\n"), "{"],
    leave: "half",
  },
  "resets after its request": {
    send: (port) => [post(port, "Content-Length: 2\r\n"), "{}"],
    leave: "reset",
  },
  "half-closes after its request": {
    send: (port) => [post(port, "Content-Length: 2\r\n"), "{}"],
    leave: "half",
  },
  "resets within a large upload": {
    send: (port) => [post(port, "Content-Length: 9000000\r\n"), "x".repeat(4_000_000)],
    leave: "reset",
  },
  "resets within a chunk": { send: (port) => [post(port, CHUNKED), "fff\r\n{"], leave: "reset" },
  "expects 100-continue and leaves": {
    send: (port) => [post(port, "Content-Length: 9\r\nExpect: 100-continue\r\n")],
    leave: "leave",
  },
  "expects 100-continue and sends its body": {
    send: (port) => [post(port, `Content-Length: 2\r\nExpect: 100-continue\r\n${CLOSE}`), "{}"],
  },
  "has an unknown expectation": {
    send: (port) => [post(port, `Content-Length: 2\r\nExpect: x\r\n${CLOSE}`), "{}"],
  },
  "speaks TLS": { send: () => ["\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03"] },
  "speaks HTTP/2": { send: () => ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] },
  "speaks HTTP/1.0": { send: (port) => [get(port).replace("1.1\r\nHost", "1.0\r\nHost")] },
  "speaks HTTP/0.9": { send: () => ["GET /v1/models\r\n"], leave: "half" },
  "speaks SOCKS": { send: () => ["\x05\x01\0"] },
  "sends zeros": { send: () => ["\0".repeat(1000)] },
  "has a head of 100 KB": { send: (port) => [get(port, `X: ${"y".repeat(100_000)}\r\n`)] },
  "has three thousand headers": { send: (port) => [get(port, `${"X: y\r\n".repeat(3000)}${CLOSE}`)] },
  "has no host": { send: () => ["GET /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n"] },
  "requests a tunnel": { send: (port) => [`CONNECT x:443 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`] },
  "requests a trace": { send: (port) => [get(port, CLOSE).replace("GET", "TRACE")] },
  "has an unknown method": { send: (port) => [get(port, CLOSE).replace("GET", "BREW")] },
  "requests a WebSocket": {
    send: (port) => [get(port, "Connection: Upgrade\r\nUpgrade: websocket\r\n"), "\x81\x05hello"],
  },
  "has an asterisk target": { send: (port) => [get(port, CLOSE, "*").replace("GET", "OPTIONS")] },
  "has an absolute target": { send: (port) => [get(port, CLOSE, "http://x.example/v1/models")] },
  "has a target that is not ASCII": { send: (port) => [get(port, CLOSE, "/v1/\xff\xfe")] },
  "sends a GET with a body": { send: (port) => [get(port, `Content-Length: 2\r\n${CLOSE}`), "{}"] },
  "has two lengths": { send: (port) => [post(port, "Content-Length: 2\r\nContent-Length: 3\r\n"), "{}"] },
  "has a length and chunks": { send: (port) => [post(port, `Content-Length: 2\r\n${CHUNKED}`), "0\r\n\r\n"] },
  "has a negative length": { send: (port) => [post(port, "Content-Length: -1\r\n"), "{}"] },
  "has a length too large for a number": {
    send: (port) => [post(port, `Content-Length: ${"9".repeat(40)}\r\n`)],
  },
  "announces a petabyte": {
    send: (port) => [post(port, `Content-Length: 1${"0".repeat(15)}\r\n`)],
    leave: "half",
  },
  "sends more than it announced": { send: (port) => [post(port, `Content-Length: 2\r\n${CLOSE}`), "{}{}{}"] },
  "has a chunk size that is not a number": { send: (port) => [post(port, CHUNKED), "zz\r\n{}\r\n"] },
  "has a chunk size too large for a number": {
    send: (port) => [post(port, CHUNKED), `${"f".repeat(40)}\r\n{}`],
  },
  "has a framing header as a trailer": {
    send: (port) => [post(port, CHUNKED), "2\r\n{}\r\n0\r\nContent-Length: 7\r\n\r\n"],
  },
  "ends its lines in LF": { send: (port) => [get(port, CLOSE).replaceAll("\r\n", "\n")] },
  "ends its lines in CR": { send: (port) => [get(port, CLOSE).replaceAll("\r\n", "\r")], leave: "leave" },
  "sends a hundred requests at once": { send: (port) => [get(port).repeat(100)], leave: "half" },
  "sends a request after Connection: close": { send: (port) => [get(port, CLOSE) + get(port)] },
  "sends a body that is not JSON": {
    send: (port) => [post(port, `Content-Length: 4\r\n${CLOSE}`), "\xff\0{["],
  },
  "sends a body that is not gzip": {
    send: (port) => [post(port, `Content-Encoding: gzip\r\nContent-Length: 2\r\n${CLOSE}`), "{}"],
  },
  "has a long User-Agent": {
    send: (port) => [get(port, `User-Agent: ${"\xe9\x80".repeat(9_000)}\r\n${CLOSE}`)],
  },
};
