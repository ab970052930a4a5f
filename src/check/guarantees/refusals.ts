import assert from "node:assert/strict";
import { headerValues, post, summarize } from "../client.ts";
import type { Client, TestRequest, TestResponse } from "../client.ts";
import { isLoopbackName } from "../../core/http/admission.ts";
import { REPORT_IT, STOP_AND_REPORT, type Guarantee, type RunningProxy } from "../guarantee.ts";
import { randomWord } from "../samples.ts";

/** Safe to verify on the user's own daemon: refused before an upstream or the ledger is involved. */
export const DAEMON_GUARANTEES: readonly Guarantee<RunningProxy>[] = [
  {
    name: "foreign host",
    proves: "a request addressed to another host name is refused (DNS rebinding)",
    remedy: `any web page could use your key; ${STOP_AND_REPORT}`,
    async verify({ client }) {
      const { port } = client;
      for (const host of [`${randomWord()}.invalid:${port}`, `127.0.0.1.${randomWord()}.invalid`]) {
        await expectRefusal(client, getModels(["host", host]), 403);
      }
    },
  },
  {
    name: "web origin",
    proves: "a request from a web page is refused",
    remedy: `any web page could use your key; ${STOP_AND_REPORT}`,
    async verify({ client }) {
      await expectRefusal(client, getModels(["origin", `https://${randomWord()}.invalid`]), 403);
    },
  },
  {
    name: "preflight",
    proves: "a browser's CORS preflight is granted nothing",
    remedy: `any web page could use your key; ${STOP_AND_REPORT}`,
    async verify({ client }) {
      const headers = [
        ["origin", `https://${randomWord()}.invalid`],
        ["access-control-request-method", "POST"],
      ] as const;
      await expectRefusal(client, { method: "OPTIONS", path: "/v1/messages", headers }, 403, 405);
      await expectRefusal(client, { method: "OPTIONS", path: "/v1/messages" }, 405);
    },
  },
  {
    name: "unknown path",
    proves: "a path that is not a route, or only looks like one, gets 404 and is not forwarded",
    remedy: `requests could reach other parts of the API with your key; ${STOP_AND_REPORT}`,
    async verify({ client }) {
      for (const path of [`/v1/${randomWord()}/${randomWord()}`, "/v1/../v1/models", "//v1/models"]) {
        await expectRefusal(client, { method: "GET", path }, 404);
      }
    },
  },
];

const OTHER_REFUSALS: readonly Guarantee<RunningProxy>[] = [
  {
    name: "cross-site",
    proves: "a request that the browser marks as cross-site is refused",
    remedy: `any web page could use your key; ${STOP_AND_REPORT}`,
    async verify({ client }) {
      for (const site of ["cross-site", "same-site"]) {
        await expectRefusal(client, getModels(["sec-fetch-site", site]), 403);
      }
    },
  },
  {
    name: "simple POST",
    proves: "a POST that a web page can send without a preflight is refused: it must be application/json",
    remedy: `any web page could spend your money without seeing the response; ${STOP_AND_REPORT}`,
    async verify({ client }) {
      for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
        await expectRefusal(client, post("/v1/messages", [["content-type", type]]), 415);
      }
    },
  },
  {
    name: "websocket",
    proves: "a WebSocket gets 426 at once, so that Codex continues with POST",
    remedy: `Codex would hang, and browsers do not keep web pages from WebSockets; ${STOP_AND_REPORT}`,
    async verify({ client }) {
      const headers = [
        ["connection", "Upgrade"],
        ["upgrade", "websocket"],
        ["sec-websocket-version", "13"],
        ["sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="],
      ] as const;
      await expectRefusal(client, { method: "GET", path: "/v1/responses", headers }, 426);
    },
  },
  {
    name: "wrong method",
    proves: "a route with the wrong method gets 405, which names the right one, and is not forwarded",
    remedy: `requests could do more upstream than the routes allow; ${REPORT_IT}`,
    async verify({ client }) {
      const response = await expectRefusal(client, { method: "DELETE", path: "/v1/messages" }, 405);
      const allowed = headerValues(response.headers, "allow").join();
      assert.ok(allowed.includes("POST"), `the allow header is "${allowed}"`);
    },
  },
];

/** Requests from web pages and to unknown hosts are refused. */
export const REFUSAL_GUARANTEES: readonly Guarantee[] = [
  ...[...DAEMON_GUARANTEES, ...OTHER_REFUSALS].map(withoutTrace),
  {
    name: "listed hosts",
    proves:
      "hosts and origins that the configuration lists are admitted; names beyond loopback need a local token",
    remedy: `containers or editors that you listed would be refused, or web pages admitted; ${REPORT_IT}`,
    async verify({ client, config, token }) {
      const { allowedHosts, allowedOrigins } = config.listen;
      const hosts = allowedHosts.map((host) => ["host", host] as const);
      const headers = [...hosts, ...allowedOrigins.map((origin) => ["origin", origin] as const)];
      for (const header of headers) {
        const response = await client.send(getModels(header, ["authorization", `Bearer ${token}`]));
        assert.ok(response.status === 200, `${header.join(" ")}: ${summarize(response)}`);
      }
      for (const header of hosts.filter(([, host]) => !isLoopbackName(host))) {
        const response = await client.send(getModels(header));
        const [refusal] = headerValues(response.headers, "x-tollkeeper-refusal");
        assert.ok(refusal === "token_required", `${header.join(" ")}, no token: ${summarize(response)}`);
      }
    },
  },
];

function getModels(...headers: (readonly [name: string, value: string])[]): TestRequest {
  return { method: "GET", path: "/v1/models", headers };
}

/** Throws unless the response has one of these statuses, is tollkeeper's own, and grants a browser nothing. */
async function expectRefusal(
  client: Client,
  request: TestRequest,
  ...statuses: readonly number[]
): Promise<TestResponse> {
  const response = await client.send(request);
  const { status, headers } = response;
  assert.ok(
    statuses.includes(status),
    `${request.method} ${request.path}: ${statuses.join(" or ")} expected, got ${summarize(response)}`,
  );
  assert.ok(
    headerValues(headers, "x-tollkeeper-refusal").length === 1,
    `${status} did not come from tollkeeper`,
  );
  const grant = headers.find((text) => /^access-control-/i.test(text));
  assert.ok(grant === undefined, `${status} came with ${grant}`);
  return response;
}

/** Also verifies that the refused requests reach neither the upstream nor the ledger. */
function withoutTrace(guarantee: Guarantee<RunningProxy>): Guarantee {
  return {
    ...guarantee,
    async verify(proxy) {
      const { upstream } = proxy;
      const [requests, records] = [upstream.requests.length, (await proxy.records()).length];
      await guarantee.verify(proxy);
      assert.ok(upstream.requests.length === requests, "refused, but sent to the upstream");
      const isUnrecorded = (await proxy.records()).length === records;
      assert.ok(isUnrecorded, "refused, but recorded in the ledger");
    },
  };
}
