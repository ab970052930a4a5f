import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { assertHeaders, headerValues, post } from "../client.ts";
import {
  assertSameBytes,
  firstUpstream,
  REPORT_IT,
  sendThrough,
  type Guarantee,
  type IsolatedProxy,
} from "../guarantee.ts";
import { GZIPPED, ODD_JSON, randomWord, splitUnevenly, ZSTD_FRAME } from "../samples.ts";

const LARGE_BYTES = 5 * 1024 * 1024;

/** Valid with subscription tokens only; the service rejects it together with an API key (docs/wire.md section 1). */
const OAUTH_BETA = "oauth-2025-04-20";

/** What clients send reaches the upstream unchanged. */
export const REQUEST_GUARANTEES: readonly Guarantee[] = [
  {
    name: "request bodies",
    proves: "JSON, gzip, zstd, 5 MB and chunked bodies reach the upstream byte for byte",
    remedy: `the API would get different requests than your tools sent; ${REPORT_IT}`,
    async verify(proxy) {
      await verifyBody(proxy, "JSON", ODD_JSON);
      await verifyBody(proxy, "gzip", GZIPPED, [["content-encoding", "gzip"]]);
      await verifyBody(proxy, "zstd", ZSTD_FRAME, [["content-encoding", "zstd"]]);
      await verifyBody(proxy, "large", randomBytes(Math.min(LARGE_BYTES, proxy.config.limits.bodyBytes)));
      await verifyBody(proxy, "chunked", splitUnevenly(ODD_JSON));
    },
  },
  {
    name: "query",
    proves: "the query reaches the upstream unchanged, including escapes and repetitions",
    remedy: `the API would get a different request; ${REPORT_IT}`,
    async verify(proxy) {
      const sent = "?beta=true&x=%2F..%2f&x=2&empty=&flag";
      const { path } = (await sendThrough(proxy, post(`/v1/messages${sent}`))).received;
      const received = path.slice(path.indexOf("?"));
      assert.ok(received === sent, `sent ${sent}, received ${received}`);
    },
  },
  {
    name: "request headers",
    proves: "anthropic-beta, anthropic-version and unknown headers reach the upstream unchanged",
    remedy: `features that tools enable with headers would be missing; ${REPORT_IT}`,
    async verify(proxy) {
      const headers: [string, string][] = [
        ["anthropic-version", "2023-01-01"],
        ["anthropic-beta", "context-1m-2025-08-07, interleaved-thinking-2025-05-14"],
        [`x-${randomWord()}`, 'odd; value="1"'],
        ["user-agent", "check/1"],
      ];
      const { received } = await sendThrough(proxy, post("/v1/messages", headers));
      assertHeaders(received.headers, headers);
    },
  },
  {
    name: "version header",
    proves: "anthropic-version is added if the client sent none, on the two Messages routes only",
    remedy: `the API rejects Messages requests without a version; check "anthropicVersion" with: tollkeeper config check`,
    async verify(proxy) {
      const version = firstUpstream(proxy.config).anthropicVersion;
      for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
        const { received } = await sendThrough(proxy, post(path));
        assertHeaders(received.headers, [["anthropic-version", version]]);
      }
      const { received } = await sendThrough(proxy, post("/v1/responses"));
      const added = headerValues(received.headers, "anthropic-version");
      assert.ok(added.length === 0, "it was added on /v1/responses");
    },
  },
  {
    name: "oauth beta",
    proves: "the beta value for subscription tokens is removed, the others are kept",
    remedy: `the API rejects that value together with an API key; ${REPORT_IT}`,
    async verify(proxy) {
      const among = post("/v1/messages", [["anthropic-beta", `one-1,${OAUTH_BETA},two-2`]]);
      assertHeaders((await sendThrough(proxy, among)).received.headers, [["anthropic-beta", "one-1,two-2"]]);
      const alone = post("/v1/messages", [["anthropic-beta", OAUTH_BETA]]);
      const { received } = await sendThrough(proxy, alone);
      const passed = headerValues(received.headers, "anthropic-beta");
      assert.ok(passed.length === 0, `${OAUTH_BETA} reached the upstream`);
    },
  },
];

async function verifyBody(
  proxy: IsolatedProxy,
  form: string,
  body: Buffer | Buffer[],
  headers: [string, string][] = [],
): Promise<void> {
  const { received } = await sendThrough(proxy, { method: "POST", path: "/v1/messages", headers, body });
  assertSameBytes(`${form} body`, Buffer.isBuffer(body) ? body : Buffer.concat(body), received.body);
  assertHeaders(received.headers, [["content-type", "application/json"], ...headers]);
}
