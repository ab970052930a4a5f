/** What a client says (latin1), and how it leaves: `reset` or `leave` at once, `half` by closing its own direction; else when it is hung up on. */
export interface ClientPlay {
  says(port: number): string[];
  ends?: "leave" | "reset" | "half";
}

const post = (port: number, fields: string, path = "/v1/messages") =>
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n${fields}\r\n`;
const get = (port: number, fields = "", path = "/v1/models") =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${fields}\r\n`;

const CLOSE = "Connection: close\r\n";
const CHUNKED = "Transfer-Encoding: chunked\r\nConnection: close\r\n";

/** Clients that do what none should. Those without a `ends` are hung up on by the daemon. */
export const NASTY_CLIENTS: Record<string, ClientPlay> = {
  "says nothing and leaves": { says: () => [], ends: "leave" },
  "says nothing and resets": { says: () => [], ends: "reset" },
  "says nothing and half-closes": { says: () => [], ends: "half" },
  "leaves within its head": { says: (port) => [get(port).slice(0, 30)], ends: "leave" },
  "resets within its head": { says: (port) => [get(port).slice(0, 30)], ends: "reset" },
  "half-closes within its head": { says: (port) => [get(port).slice(0, 30)], ends: "half" },
  "leaves within its body": { says: (port) => [post(port, "Content-Length: 9\r\n"), "{"], ends: "leave" },
  "resets within its body": { says: (port) => [post(port, "Content-Length: 9\r\n"), "{"], ends: "reset" },
  "half-closes within its body": { says: (port) => [post(port, "Content-Length: 9\r\n"), "{"], ends: "half" },
  "resets behind its request": { says: (port) => [post(port, "Content-Length: 2\r\n"), "{}"], ends: "reset" },
  "half-closes behind its request": {
    says: (port) => [post(port, "Content-Length: 2\r\n"), "{}"],
    ends: "half",
  },
  "resets within a large upload": {
    says: (port) => [post(port, "Content-Length: 9000000\r\n"), "x".repeat(4_000_000)],
    ends: "reset",
  },
  "resets within a chunk": { says: (port) => [post(port, CHUNKED), "fff\r\n{"], ends: "reset" },
  "asks whether to go on, and leaves": {
    says: (port) => [post(port, "Content-Length: 9\r\nExpect: 100-continue\r\n")],
    ends: "leave",
  },
  "asks whether to go on, and goes on": {
    says: (port) => [post(port, `Content-Length: 2\r\nExpect: 100-continue\r\n${CLOSE}`), "{}"],
  },
  "expects the unknown": { says: (port) => [post(port, `Content-Length: 2\r\nExpect: x\r\n${CLOSE}`), "{}"] },
  "speaks TLS": { says: () => ["\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03"] },
  "speaks HTTP/2": { says: () => ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] },
  "speaks HTTP/1.0": { says: (port) => [get(port).replace("1.1\r\nHost", "1.0\r\nHost")] },
  "speaks HTTP/0.9": { says: () => ["GET /v1/models\r\n"], ends: "half" },
  "speaks SOCKS": { says: () => ["\x05\x01\0"] },
  "speaks in zeros": { says: () => ["\0".repeat(1000)] },
  "has a head of 100 KB": { says: (port) => [get(port, `X: ${"y".repeat(100_000)}\r\n`)] },
  "has three thousand headers": { says: (port) => [get(port, `${"X: y\r\n".repeat(3000)}${CLOSE}`)] },
  "has no host": { says: () => ["GET /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n"] },
  "asks for a tunnel": { says: (port) => [`CONNECT x:443 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`] },
  "asks for a trace": { says: (port) => [get(port, CLOSE).replace("GET", "TRACE")] },
  "asks in a method unheard of": { says: (port) => [get(port, CLOSE).replace("GET", "BREW")] },
  "asks for a socket": {
    says: (port) => [get(port, "Connection: Upgrade\r\nUpgrade: websocket\r\n"), "\x81\x05hello"],
  },
  "asks for the whole server": { says: (port) => [get(port, CLOSE, "*").replace("GET", "OPTIONS")] },
  "asks by another name": { says: (port) => [get(port, CLOSE, "http://x.example/v1/models")] },
  "asks in bytes": { says: (port) => [get(port, CLOSE, "/v1/\xff\xfe")] },
  "asks with a body": { says: (port) => [get(port, `Content-Length: 2\r\n${CLOSE}`), "{}"] },
  "has two lengths": { says: (port) => [post(port, "Content-Length: 2\r\nContent-Length: 3\r\n"), "{}"] },
  "has a length and chunks": { says: (port) => [post(port, `Content-Length: 2\r\n${CHUNKED}`), "0\r\n\r\n"] },
  "has a negative length": { says: (port) => [post(port, "Content-Length: -1\r\n"), "{}"] },
  "has a length beyond all numbers": {
    says: (port) => [post(port, `Content-Length: ${"9".repeat(40)}\r\n`)],
  },
  "announces a petabyte": {
    says: (port) => [post(port, `Content-Length: 1${"0".repeat(15)}\r\n`)],
    ends: "half",
  },
  "sends more than it announced": { says: (port) => [post(port, `Content-Length: 2\r\n${CLOSE}`), "{}{}{}"] },
  "has a chunk size that is none": { says: (port) => [post(port, CHUNKED), "zz\r\n{}\r\n"] },
  "has a chunk beyond all numbers": { says: (port) => [post(port, CHUNKED), `${"f".repeat(40)}\r\n{}`] },
  "has odd trailers": { says: (port) => [post(port, CHUNKED), "2\r\n{}\r\n0\r\nContent-Length: 7\r\n\r\n"] },
  "ends its lines in LF": { says: (port) => [get(port, CLOSE).replaceAll("\r\n", "\n")] },
  "ends its lines in CR": { says: (port) => [get(port, CLOSE).replaceAll("\r\n", "\r")], ends: "leave" },
  "sends a hundred requests at once": { says: (port) => [get(port).repeat(100)], ends: "half" },
  "goes on after it said goodbye": { says: (port) => [get(port, CLOSE) + get(port)] },
  "sends what is no JSON": { says: (port) => [post(port, `Content-Length: 4\r\n${CLOSE}`), "\xff\0{["] },
  "sends what is no gzip": {
    says: (port) => [post(port, `Content-Encoding: gzip\r\nContent-Length: 2\r\n${CLOSE}`), "{}"],
  },
  "says who it is at length": {
    says: (port) => [get(port, `User-Agent: ${"\xe9\x80".repeat(9_000)}\r\n${CLOSE}`)],
  },
};
