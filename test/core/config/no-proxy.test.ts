import assert from "node:assert/strict";
import { test } from "node:test";
import { shouldBypassProxy, checkNoProxy } from "../../../src/core/config/no-proxy.ts";

/** An entry, origins that it matches, and origins that it does not. */
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
  test(`bypasses the proxy for what "${entry}" names, and for nothing else`, () => {
    assert.equal(checkNoProxy(entry), null);
    for (const origin of matched) assert.ok(shouldBypassProxy(origin, ["other.example", entry]), origin);
    for (const origin of others) assert.ok(!shouldBypassProxy(origin, [entry]), origin);
  });
}

test("never uses a proxy for loopback hosts", () => {
  for (const host of ["localhost", "127.0.0.1", "127.8.8.8", "[::1]"]) {
    assert.ok(shouldBypassProxy(`https://${host}:8443`, []));
  }
  assert.ok(!shouldBypassProxy("https://localhost.example", []));
});

test("refuses an entry that is not a host, and says what a host looks like", () => {
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
    assert.match(checkNoProxy(entry) ?? "", /^must be a host such as/, entry);
  }
  for (const entry of ["10.0.0.0/", "fd00::/129", "1.2.3.4/", "a.example/path", "[fd00::1"]) {
    assert.match(checkNoProxy(entry) ?? "", /^must be a host such as/, entry);
  }
});

test("refuses several hosts in one string, as NO_PROXY has them, and says what to write instead", () => {
  for (const entry of ["a.example,b.example", "a.example, b.example", "a b"]) {
    assert.equal(checkNoProxy(entry), "must be one host; write each host as a separate string");
  }
});
