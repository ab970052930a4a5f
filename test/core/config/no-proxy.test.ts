import assert from "node:assert/strict";
import { test } from "node:test";
import { isPastProxy, judgeNoProxy } from "../../../src/core/config/no-proxy.ts";

/** Entry, upstreams that it matches, upstreams that it does not. */
const ENTRIES: [entry: string, matched: string[], others: string[]][] = [
  ["*", ["https://a.example", "https://10.1.2.3"], []],
  [
    "a.example",
    ["https://a.example", "https://b.a.example:8443"],
    ["https://ba.example", "https://a.example.org"],
  ],
  ["A.Example", ["https://a.example"], []],
  [
    ".a.example",
    ["https://b.a.example", "https://c.b.a.example"],
    ["https://a.example", "https://xa.example"],
  ],
  ["*.a.example", ["https://b.a.example"], ["https://a.example"]],
  ["a.example:8443", ["https://a.example:8443"], ["https://a.example", "https://a.example:443"]],
  ["a.example:443", ["https://a.example"], ["https://a.example:8443"]],
  ["intranet", ["https://intranet"], ["https://intranet.example"]],
  ["10.1.2.3", ["https://10.1.2.3"], ["https://10.1.2.30", "https://110.1.2.3"]],
  ["10.1.2.3:8443", ["https://10.1.2.3:8443"], ["https://10.1.2.3"]],
  ["10.1.2.3/8", ["https://10.255.0.1"], ["https://11.1.2.3", "https://10.example"]],
  ["172.16.0.0/12", ["https://172.31.255.255"], ["https://172.32.0.0", "https://172.15.0.1"]],
  ["0.0.0.0/0", ["https://8.8.8.8"], ["https://[fd00::1]", "https://a.example"]],
  ["fd00::1", ["https://[fd00::1]", "https://[fd00:0:0::0:1]"], ["https://[fd00::2]"]],
  ["[fd00::1]", ["https://[fd00::1]:8443"], []],
  ["[fd00::1]:8443", ["https://[fd00::1]:8443"], ["https://[fd00::1]"]],
  ["fd00::/8", ["https://[fdff:1::]"], ["https://[fe00::1]", "https://10.1.2.3"]],
  ["::/0", ["https://[1::2:3]"], ["https://10.1.2.3"]],
];

for (const [entry, matched, others] of ENTRIES) {
  test(`"${entry}" keeps the proxy out of what it names, and of nothing else`, () => {
    assert.equal(judgeNoProxy(entry), null);
    for (const origin of matched) assert.ok(isPastProxy(origin, ["other.example", entry]), origin);
    for (const origin of others) assert.ok(!isPastProxy(origin, [entry]), origin);
  });
}

test("what is on this machine never goes through a proxy", () => {
  for (const host of ["localhost", "127.0.0.1", "127.8.8.8", "[::1]"]) {
    assert.ok(isPastProxy(`https://${host}:8443`, []));
  }
  assert.ok(!isPastProxy("https://localhost.example", []));
});

test("what is no host is refused, with what is", () => {
  for (const entry of [
    "",
    ".",
    "*x",
    "http://a.example",
    "a..b",
    "a.example:",
    "a.example:123456",
    "a/8",
    "10.0.0.0/33",
  ]) {
    assert.match(judgeNoProxy(entry) ?? "", /^must be a host such as/, entry);
  }
  for (const entry of ["10.0.0.0/", "fd00::/129", "1.2.3.4/", "a.example/path", "[fd00::1"]) {
    assert.match(judgeNoProxy(entry) ?? "", /^must be a host such as/, entry);
  }
});

test("a list in one text, as the environment has it, is refused with what to do", () => {
  for (const entry of ["a.example,b.example", "a.example, b.example", "a b"]) {
    assert.equal(judgeNoProxy(entry), "must be one host; write each as a string of its own");
  }
});
