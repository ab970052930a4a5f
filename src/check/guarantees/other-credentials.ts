import assert from "node:assert/strict";
import type { Upstream } from "../../core/config/config.ts";
import { APIS, servesApi, type Api } from "../../core/http/api.ts";
import { headerValues, post, summarize, type TestRequest } from "../client.ts";
import {
  assertSameBytes,
  sendThrough,
  STOP_AND_REPORT,
  type Guarantee,
  type IsolatedProxy,
} from "../guarantee.ts";
import type { RecordedRequest } from "../recording-upstream.ts";
import { ODD_JSON, randomWord, splitUnevenly } from "../samples.ts";
import { findSignatureFault } from "../signature.ts";

/** Where requests are signed: what reaches the upstream is the signature, and nothing else of a credential. */
export const SIGNED: Guarantee = {
  name: "signed requests",
  proves:
    "each request to Amazon Bedrock is signed over its exact bytes, and carries no credential of the client",
  remedy: `AWS would reject requests, or access keys would be sent to the wrong place; ${STOP_AND_REPORT}`,
  async verify(proxy) {
    for (const upstream of upstreamsOf(proxy, ({ auth }) => auth === "sigv4")) {
      const word = randomWord();
      const headers = SIGNED_BY_CLIENT.map((name) => [name, `AWS4-HMAC-SHA256 ${word}`] as const);
      for (const body of [ODD_JSON, splitUnevenly(ODD_JSON)]) {
        const path = `/t/${upstream.name}/model/check/converse?a=%2F..&X-Amz-Signature=${word}`;
        const { received } = await sendThrough(proxy, { method: "POST", path, headers, body });
        assertSameBytes(`${upstream.name}: body`, ODD_JSON, received.body);
        assertSigned(proxy, upstream, received);
        assertWithout(upstream, received, word, "what the client signed");
      }
      await assertRedacted(proxy, upstream);
    }
  },
};

/** In which clients of AWS send credentials. */
const SIGNED_BY_CLIENT = [
  "authorization",
  "x-amz-date",
  "x-amz-content-sha256",
  "x-amz-security-token",
  "x-api-key",
  "cookie",
];

function assertSigned(
  { accessKeys }: IsolatedProxy,
  { name, region }: Upstream,
  received: RecordedRequest,
): void {
  const expected = { keys: accessKeys, region: region ?? "", service: "bedrock", now: Date.now() };
  const fault = findSignatureFault(received, expected);
  assert.ok(fault === null, `${name}: ${fault?.split("\n", 1).join()}`);
  const { secretAccessKey } = accessKeys;
  assertWithout({ name }, received, secretAccessKey, "the secret access key");
}

/** AWS repeats the session token where it explains why a signature is wrong. */
async function assertRedacted(proxy: IsolatedProxy, { name }: Upstream): Promise<void> {
  const { sessionToken, secretAccessKey } = proxy.accessKeys;
  const echo = `${sessionToken} ${secretAccessKey}`;
  const { response } = await sendThrough(proxy, post(`/t/${name}/model/check/converse`), (res) =>
    res.writeHead(403, { "x-echo": echo }).end(`{"message":"${echo}"}`),
  );
  const received = [...response.headers, response.body.toString("latin1")].join("\n");
  assert.ok(!received.includes(sessionToken ?? ""), `${name}: the session token reached the client`);
}

/** Where tools send their own key: exactly that key reaches the upstream, and no stored one. */
export const OWN_KEYS: Guarantee = {
  name: "own keys",
  proves:
    "where tools send their own key, it is forwarded as it came, without any other; without one a request is refused",
  remedy: `a tool's key, or a stored one, would be sent to the wrong place; ${STOP_AND_REPORT}`,
  async verify(proxy) {
    for (const upstream of upstreamsOf(proxy, ({ credential }) => credential === "client")) {
      const api = APIS.find((one) => servesApi(upstream, one));
      if (api === undefined) continue;
      const path = `/t/${upstream.name}${PATHS[api]}`;
      for (const name of api === "messages" ? ["x-api-key", "authorization"] : ["authorization"]) {
        const own = `own-key-${randomWord()}`;
        const value = name === "authorization" ? `Bearer ${own}` : own;
        const { received } = await sendThrough(
          proxy,
          post(path, [
            [name, value],
            ["cookie", "check=1"],
          ]),
        );
        assertOwnKey(proxy, upstream, received, name, value);
        const records = JSON.stringify(await proxy.records());
        assert.ok(!records.includes(own), `${upstream.name}: the tool's key is in the ledger`);
      }
      for (const headers of [[], [["authorization", `Bearer ${proxy.token}`]]] as const)
        await assertRefused(proxy, upstream, post(path, headers));
    }
  },
};

const PATHS: Readonly<Record<Api, string>> = {
  messages: "/v1/messages",
  responses: "/v1/responses",
  chat: "/v1/chat/completions",
  gemini: "/v1beta/models/check:generateContent",
  bedrock: "/model/check/converse",
};

function assertOwnKey(
  { keyNamed }: IsolatedProxy,
  upstream: Upstream,
  received: RecordedRequest,
  name: string,
  value: string,
): void {
  const values = headerValues(received.headers, name);
  assert.ok(values.join() === value, `${upstream.name}: ${name} is not the key that the tool sent`);
  const stored = keyNamed(upstream.key);
  assertWithout(upstream, received, stored, "a stored key");
  const others = ["authorization", "x-api-key", "api-key", "cookie"].filter((other) => other !== name);
  const other = others.find((one) => headerValues(received.headers, one).length > 0);
  assert.ok(other === undefined, `${upstream.name}: ${other} is sent in addition to ${name}`);
}

/** A tool would sign out at 401. */
async function assertRefused(
  { client, upstream }: IsolatedProxy,
  { name }: Upstream,
  request: TestRequest,
): Promise<void> {
  const before = upstream.requests.length;
  const response = await client.send(request);
  const isOurs = headerValues(response.headers, "x-tollkeeper-refusal").length === 1;
  const isRefused = isOurs && response.status !== 401;
  assert.ok(isRefused, `${name}: a refusal other than 401 was expected, got ${summarize(response)}`);
  assert.ok(upstream.requests.length === before, `${name}: a request without a key of its own was sent`);
}

function upstreamsOf({ config }: IsolatedProxy, isMeant: (upstream: Upstream) => boolean): Upstream[] {
  return Object.values(config.upstreams).filter(isMeant);
}

function assertWithout(
  { name }: Pick<Upstream, "name">,
  { path, headers }: RecordedRequest,
  text: string,
  what: string,
): void {
  assert.ok(![path, ...headers].some((part) => part.includes(text)), `${name}: ${what} reached the upstream`);
}
