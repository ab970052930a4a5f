import assert from "node:assert/strict";
import { inspect } from "node:util";
import { test } from "node:test";
import { checkConfig } from "../../../src/core/config/check.ts";
import { defaultConfig } from "../../../src/core/config/config.ts";
import { describeOutbound, isSameOutbound, type Outbound } from "../../../src/core/config/outbound.ts";

function outboundOf(outbound: object): Outbound {
  const verdict = checkConfig({ outbound }, "/home/ada");
  assert.ok(verdict.ok, JSON.stringify(verdict));
  return verdict.config.outbound;
}

const FULL = {
  httpsProxy: "http://ada:told-to-nobody@proxy.example:8080",
  noProxy: ["intranet.example", "10.0.0.0/8"],
  caFile: "~/ca.pem",
};

test("each key is resolved: address and user apart, the path absolute", () => {
  const { proxy, ...rest } = outboundOf(FULL);
  assert.equal(proxy?.origin, "http://proxy.example:8080");
  assert.deepEqual(rest, { noProxy: FULL.noProxy, caFile: "/home/ada/ca.pem", authorities: [] });
  assert.deepEqual(outboundOf({ httpsProxy: null, caFile: null }), defaultConfig.outbound);
});

test("the password is in no form of the configuration that can be printed", () => {
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
  ["user, who is not named any more", { httpsProxy: "http://proxy.example:8080" }],
  ["proxy, which is not named any more", { httpsProxy: null }],
  ["list of what goes past it", { noProxy: ["intranet.example"] }],
  ["file of authorities", { caFile: "/other.pem" }],
];

for (const [what, change] of CHANGES) {
  test(`another ${what} is another way`, () => {
    const [one, other] = [outboundOf(FULL), outboundOf({ ...FULL, ...change })];
    assert.ok(!isSameOutbound(one, other));
    assert.ok(!isSameOutbound(other, one));
  });
}

test("another certificate in the same file is another way, and the same words are the same way", () => {
  assert.ok(isSameOutbound(outboundOf(FULL), outboundOf(FULL)));
  assert.ok(isSameOutbound(outboundOf({}), defaultConfig.outbound));
  assert.ok(!isSameOutbound(outboundOf(FULL), { ...outboundOf(FULL), authorities: ["PEM"] }));
});

test("it is told in words, without the password, and nothing is told where all is as usual", () => {
  assert.deepEqual(describeOutbound(outboundOf(FULL)), [
    "reaches upstreams through the proxy http://proxy.example:8080, with user name and password; not for intranet.example, 10.0.0.0/8",
    "trusts the authorities in /home/ada/ca.pem, too",
  ]);
  assert.deepEqual(describeOutbound(outboundOf({ httpsProxy: "https://proxy.example" })), [
    "reaches upstreams through the proxy https://proxy.example",
  ]);
  assert.deepEqual(describeOutbound(outboundOf({ noProxy: ["a.example"] })), []);
});
