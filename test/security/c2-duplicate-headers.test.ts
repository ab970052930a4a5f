// C2, duplicate headers: a header that decides anything may occur once. With a second one, which Node would silently drop, the request
// is refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { exchangeRaw } from "../helpers/client/raw-exchange.ts";
import { echo } from "../helpers/upstream/raw-upstream.ts";
import { startGateWithRawUpstream } from "../helpers/gate/gate-with-upstream.ts";

/** Pairs of lines of which the first one alone would be valid. @host stands for our own host. */
const DUPLICATES: [code: string, first: string, second: string][] = [
  ["host_not_allowed", "Host: @host", "Host: evil.example"],
  ["host_not_allowed", "Host: @host", "HOST: @host"],
  ["origin_not_allowed", "Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"],
  ["origin_not_allowed", "Sec-Fetch-Site: same-origin", "sec-fetch-site: same-origin"],
  ["origin_not_allowed", "Origin: vscode-webview://good", "Origin: https://evil.example"],
  ["origin_not_allowed", "Origin: vscode-webview://good", "oRIGIN: vscode-webview://good"],
  ["origin_not_allowed", "Referer: http://@host/", "Referer: https://evil.example/"],
  ["bad_request", "Content-Type: application/json", "Content-Type: text/plain"],
  ["bad_request", "Content-Type: application/json", "content-type: application/json"],
  ["bad_request", "Content-Encoding: identity", "Content-Encoding: gzip"],
  ["bad_request", "Authorization: Bearer tk-codex", "Authorization: Bearer tk-other"],
  ["bad_request", "X-Api-Key: tk-codex", "x-api-key: tk-other"],
  ["bad_request", "anthropic-version: 2023-06-01", "Anthropic-Version: 2023-06-01"],
  ["bad_request", "X-Tollkeeper-Tool: codex", "X-Tollkeeper-Tool: other"],
  ["bad_request", "Expect: 100-continue", "Expect: 100-continue"],
  ["bad_request", "Sec-Fetch-Mode: cors", "Sec-Fetch-Mode: navigate"],
  ["bad_request", "Sec-Fetch-Dest: empty", "Sec-Fetch-Dest: document"],
  ["bad_request", "Service-Worker: script", "service-worker: script"],
  ["bad_request", "Upgrade: h2c", "Upgrade: websocket"],
];

const config = {
  listen: { port: 0, socket: null, allowedHosts: [], allowedOrigins: ["vscode-webview://good"] },
};

for (const [code, first, second] of DUPLICATES) {
  for (const between of ["side by side", "far apart"]) {
    test(`a request with ${first} and ${second}, ${between}, is refused: ${code}`, async (t) => {
      const { upstream, gate } = await startGateWithRawUpstream(t, echo, { config });
      const [name] = first.split(":");
      const usual = ["Host: @host", "Content-Type: application/json"];
      // More lines than Node keeps by default.
      const others = between === "far apart" ? Array.from({ length: 1500 }, (_, i) => `a${i}: b`) : [];
      const lines = [...usual.filter((line) => !line.startsWith(`${name}:`)), first, ...others, second];
      const own = lines.map((line) => line.replace("@host", `127.0.0.1:${gate.port}`));
      const { status, refusal } = await exchangeRaw(
        t,
        gate.port,
        ["POST /v1/messages HTTP/1.1", ...own],
        "{}",
      );
      assert.deepEqual([status, refusal], [code === "bad_request" ? 400 : 403, code]);
      assert.deepEqual(upstream.connections, []);
    });
  }
}

test("a request with only the first line of each pair is admitted", async (t) => {
  const { gate } = await startGateWithRawUpstream(t, echo, { config });
  const firsts = new Set(DUPLICATES.map(([, first]) => first));
  const alone = [
    "Upgrade: h2c",
    "Expect: 100-continue",
    "Sec-Fetch-Site: same-origin",
    "Service-Worker: script",
  ];
  for (const dropped of alone) firsts.delete(dropped);
  const lines = [...firsts].map((line) => line.replace("@host", `127.0.0.1:${gate.port}`));
  const { status } = await exchangeRaw(t, gate.port, ["POST /v1/messages HTTP/1.1", ...lines], "{}");
  assert.equal(status, 200);
});

test("a header that decides nothing may occur twice, and both lines are passed on", async (t) => {
  const { upstream, gate } = await startGateWithRawUpstream(t, echo);
  const lines = ["Host: @host", "Content-Type: application/json", "anthropic-beta: a", "anthropic-beta: b"];
  const own = lines.map((line) => line.replace("@host", `127.0.0.1:${gate.port}`));
  await exchangeRaw(t, gate.port, ["POST /v1/messages HTTP/1.1", ...own], "{}");
  const betas = upstream.requests[0]?.headers.filter(([name]) => name === "anthropic-beta");
  assert.deepEqual(betas, [
    ["anthropic-beta", "a"],
    ["anthropic-beta", "b"],
  ]);
});
