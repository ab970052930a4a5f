import { randomBytes } from "node:crypto";
import { type Check, expect, expectSameBytes, type Installation, REPORT } from "./check.ts";
import { type Ask, valuesOf } from "./client.ts";
import { exchange, post } from "./send.ts";
import { cutOddly, GZIPPED, ODD_JSON, randomWord, ZSTD_FRAME } from "./samples.ts";

const LARGE_BYTES = 5 * 1024 * 1024;

/** Only subscription tokens may use it, and we put an API key on instead (facts/clients.md 1.3). */
const OAUTH_BETA = "oauth-2025-04-20";

const requestBodies: Check = {
  name: "request bodies",
  proves: "JSON, gzip, zstd, 5 MB and chunked bodies reach the upstream byte for byte",
  remedy: `the service would get other requests than your tools sent; ${REPORT}`,
  async run(on) {
    await sendBody(on, "JSON", ODD_JSON);
    await sendBody(on, "gzip", GZIPPED, [["content-encoding", "gzip"]]);
    await sendBody(on, "zstd", ZSTD_FRAME, [["content-encoding", "zstd"]]);
    await sendBody(on, "large", randomBytes(Math.min(LARGE_BYTES, on.config.limits.bodyBytes)));
    await sendBody(on, "chunked", cutOddly(ODD_JSON));
  },
};

async function sendBody(
  on: Installation,
  form: string,
  body: Buffer | Buffer[],
  headers: [string, string][] = [],
): Promise<void> {
  const { seen } = await exchange(on, { method: "POST", path: "/v1/messages", headers, body });
  expectSameBytes(`${form} body`, Buffer.isBuffer(body) ? body : Buffer.concat(body), seen.body);
  expectValues(seen.headers, [["content-type", "application/json"], ...headers]);
}

const query: Check = {
  name: "query",
  proves: "the query reaches the upstream as it was sent, escapes and repetitions included",
  remedy: `the service would be asked something else; ${REPORT}`,
  async run(on) {
    const sent = "?beta=true&x=%2F..%2f&x=2&empty=&flag";
    const { seen } = await exchange(on, post(`/v1/messages${sent}`));
    const received = seen.path.slice(seen.path.indexOf("?"));
    expect(received === sent, `sent ${sent}, received ${received}`);
  },
};

const requestHeaders: Check = {
  name: "request headers",
  proves: "anthropic-beta, anthropic-version and headers nobody knows reach the upstream unchanged",
  remedy: `features that tools switch on by header would be missing; ${REPORT}`,
  async run(on) {
    const headers: [string, string][] = [
      ["anthropic-version", "2023-01-01"],
      ["anthropic-beta", "context-1m-2025-08-07, interleaved-thinking-2025-05-14"],
      [`x-${randomWord()}`, 'odd; value="1"'],
      ["user-agent", "check/1"],
    ];
    expectValues((await exchange(on, post("/v1/messages", headers))).seen.headers, headers);
  },
};

const versionHeader: Check = {
  name: "version header",
  proves: "anthropic-version is added on both Messages routes when the client sent none, and nowhere else",
  remedy: `the service refuses Messages requests without a version; look at "anthropicVersion": tollkeeper config check`,
  async run(on) {
    const version = on.config.upstreams["default"]?.anthropicVersion ?? "";
    for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
      expectValues((await exchange(on, post(path))).seen.headers, [["anthropic-version", version]]);
    }
    const { seen } = await exchange(on, post("/v1/responses"));
    expect(valuesOf(seen.headers, "anthropic-version").length === 0, "it was added on /v1/responses");
  },
};

const oauthBeta: Check = {
  name: "oauth beta",
  proves: "the beta value that only subscription tokens may use is dropped, the others stay",
  remedy: `the service refuses that value beside an API key; ${REPORT}`,
  async run(on) {
    const withOthers = post("/v1/messages", [["anthropic-beta", `one-1,${OAUTH_BETA},two-2`]]);
    expectValues((await exchange(on, withOthers)).seen.headers, [["anthropic-beta", "one-1,two-2"]]);
    const { seen } = await exchange(on, post("/v1/messages", [["anthropic-beta", OAUTH_BETA]]));
    expect(valuesOf(seen.headers, "anthropic-beta").length === 0, `${OAUTH_BETA} reached the upstream`);
  },
};

/** @throws Fault unless each header is there once, with this value */
function expectValues(headers: readonly string[], wanted: NonNullable<Ask["headers"]>): void {
  for (const [name, value] of wanted) {
    const received = valuesOf(headers, name).join(" and ");
    expect(
      received === value,
      `${name}: should be "${value}", ${received === "" ? "is missing" : `is "${received}"`}`,
    );
  }
}

/** What clients send reaches the upstream as it was. */
export const REQUEST_CHECKS: readonly Check[] = [
  requestBodies,
  query,
  requestHeaders,
  versionHeader,
  oauthBeta,
];
