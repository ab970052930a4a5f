import assert from "node:assert/strict";
import { inspect } from "node:util";
import { test } from "node:test";
import { defaultConfig } from "../../../src/core/config/config.ts";
import { describeOutbound, isSameOutbound, type Outbound } from "../../../src/core/config/outbound.ts";
import { validConfig } from "./valid-config.ts";

function outboundOf(outbound: object): Outbound {
  return validConfig({ outbound }).outbound;
}

const FULL = {
  httpsProxy: "http://ada:told-to-nobody@proxy.example:8080",
  noProxy: ["intranet.example", "10.0.0.0/8"],
  caFile: "~/ca.pem",
};

test("resolves the outbound section: splits address and user, makes the path absolute", () => {
  const { proxy, ...rest } = outboundOf(FULL);
  assert.equal(proxy?.origin, "http://proxy.example:8080");
  assert.deepEqual(rest, { noProxy: FULL.noProxy, caFile: "/home/ada/ca.pem", authorities: [] });
  assert.deepEqual(outboundOf({ httpsProxy: null, caFile: null }), defaultConfig.outbound);
});

test("does not print the proxy's password in any form of the configuration", () => {
  const outbound = outboundOf(FULL);
  const forms = [
    JSON.stringify(outbound),
    inspect(outbound, { depth: 9, showHidden: true }),
    String(outbound.proxy?.credentials),
  ];
  assert.ok(!forms.join().includes("told-to-nobody"), forms.join());
});

const CHANGES: [what: string, change: object][] = [
  ["proxy", { httpsProxy: "http://other.example:8080" }],
  ["password", { httpsProxy: "http://ada:other@proxy.example:8080" }],
  ["user", { httpsProxy: "http://bob:told-to-nobody@proxy.example:8080" }],
  ["user (none)", { httpsProxy: "http://proxy.example:8080" }],
  ["proxy (none)", { httpsProxy: null }],
  ["list of exceptions", { noProxy: ["intranet.example"] }],
  ["file of authorities", { caFile: "/other.pem" }],
];

for (const [what, change] of CHANGES) {
  test(`treats outbound settings with another ${what} as different`, () => {
    const [one, other] = [outboundOf(FULL), outboundOf({ ...FULL, ...change })];
    assert.ok(!isSameOutbound(one, other));
    assert.ok(!isSameOutbound(other, one));
  });
}

test("treats outbound settings with the same content as equal, and with another certificate in the same file as different", () => {
  assert.ok(isSameOutbound(outboundOf(FULL), outboundOf(FULL)));
  assert.ok(isSameOutbound(outboundOf({}), defaultConfig.outbound));
  assert.ok(!isSameOutbound(outboundOf(FULL), { ...outboundOf(FULL), authorities: ["PEM"] }));
});

test("describes a proxy without its password, and describes nothing for defaults", () => {
  assert.deepEqual(describeOutbound(outboundOf(FULL)), [
    "reaches upstreams through the proxy http://proxy.example:8080, with user name and password; not for intranet.example, 10.0.0.0/8",
    "also trusts the certificate authorities in /home/ada/ca.pem",
  ]);
  assert.deepEqual(describeOutbound(outboundOf({ httpsProxy: "https://proxy.example" })), [
    "reaches upstreams through the proxy https://proxy.example",
  ]);
  assert.deepEqual(describeOutbound(outboundOf({ noProxy: ["a.example"] })), []);
});
