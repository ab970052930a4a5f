import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Config, Upstream } from "../../../src/core/config/config.ts";
import type { UnrecordedRefusal } from "../../../src/core/refusals/refusal.ts";
import { PIPELINED } from "../../../src/core/refusals/routes.ts";
import { beginRequest, sendRaw } from "../../helpers/client/raw-client.ts";
import { rulesForTools } from "../../helpers/config/rules-for-tools.ts";
import { startGateWithUpstreams, useConfig } from "../../helpers/gate/gate-with-upstreams.ts";
import { withLimits, type GateOptions } from "../../helpers/gate/gate.ts";
import { respondWithMessage } from "../../helpers/upstream/scripted-upstream.ts";

interface Asked {
  what: string;
  path?: string;
  method?: "GET" | "POST";
  body?: string;
  config?: Partial<Config>;
  options?: GateOptions;
}

const asJson = { headers: { "content-type": "application/json" } };

const upstream = (settings: Partial<Upstream>) => ({ script: respondWithMessage, settings });

/** Two upstreams, which the model decides between, each one of them with an API of its own. */
async function start(t: TestContext, { config = {}, options = {} }: Asked) {
  const started = await startGateWithUpstreams(
    t,
    {
      first: upstream({ apis: ["messages"], models: ["one-*"] }),
      second: upstream({ apis: ["messages", "responses"], models: ["two-*"] }),
    },
    options,
  );
  useConfig(started.gate, config);
  return started;
}

/** Sends the request, and returns the upstream, route, model, code and status of its record. */
async function recordOf(t: TestContext, asked: Asked): Promise<unknown[]> {
  const { gate, upstreams } = await start(t, asked);
  const { path = "/v1/messages", method = "POST", body = '{"model":"one-x"}' } = asked;
  const response = await fetch(`${gate.url}/t/codex${path}`, {
    method,
    ...asJson,
    ...(method === "POST" && { body }),
  });
  await response.text();
  assert.equal(upstreams.first.seen.length + upstreams.second.seen.length, 0);
  const record = await gate.ledger.only();
  assert.deepEqual([record.tool, record.outcome, record.status], ["codex", "rejected", response.status]);
  assert.equal(record.error_type, response.headers.get("x-tollkeeper-refusal"));
  return [record.upstream, record.route, record.model_requested, record.error_type];
}

const PAUSED = { pauses: { judge: () => ({ ...PIPELINED, code: "paused" as const }), namesTools: false } };
const TOKENS: Partial<Config> = { access: { mode: "token", peerUid: [] } };

const RECORDED: (Asked & { as: unknown[] })[] = [
  { what: "a paused tool's", options: PAUSED, as: ["first", "/messages", null, "paused"] },
  {
    what: "a paused tool's, on a route that only the second has,",
    path: "/v1/responses",
    options: PAUSED,
    as: ["second", "/responses", null, "paused"],
  },
  { what: "a request without a token", config: TOKENS, as: ["first", "/messages", null, "token_required"] },
  {
    what: "OpenAI's list of models without a token",
    method: "GET",
    path: "/v1/models",
    config: TOKENS,
    as: ["second", "/models", null, "token_required"],
  },
  {
    what: "a model that no upstream serves",
    body: '{"model":"three-x"}',
    as: ["first", "/messages", "three-x", "model_not_found"],
  },
  {
    what: "an alias that no upstream serves",
    config: rulesForTools({ aliases: { "one-x": "three-x" } }),
    as: ["first", "/messages", "one-x", "model_not_found"],
  },
  {
    what: "a body that is no object",
    body: '["one-x"]',
    as: ["first", "/messages", null, "model_unreadable"],
  },
  { what: "a body without a model", body: "{}", as: ["first", "/messages", null, "model_unreadable"] },
];

for (const { as, ...asked } of RECORDED)
  test(`${asked.what} is refused with a record, which names the first upstream that could have had it`, async (t) => {
    assert.deepEqual(await recordOf(t, asked), as);
  });

for (const [code, what, limits] of [
  ["body_too_large", "is too long", { bodyBytes: 3 }],
  ["body_timeout", "stops arriving", { bodyIdleMs: 20 }],
] as const)
  test(`a body whose model is searched for and that ${what} is refused with a record`, async (t) => {
    const { gate, upstreams } = await start(t, { what, options: withLimits(limits) });
    const client = await sendRaw(
      t,
      gate.port,
      `${beginRequest(gate.port, "Transfer-Encoding: chunked")}5\r\n{"a":\r\n`,
    );
    assert.match(await client.until(/\}\}/), new RegExp(`x-tollkeeper-refusal: ${code}`));
    assert.equal(upstreams.first.seen.length + upstreams.second.seen.length, 0);
    const record = await gate.ledger.only();
    assert.deepEqual(
      [record.outcome, record.error_type, record.upstream, record.bytes_in],
      ["rejected", code, "first", 0],
    );
  });

test("a route that none of its tool's upstreams has is refused without a record, and reported", async (t) => {
  const reported: UnrecordedRefusal[] = [];
  const { gate } = await start(t, {
    what: "",
    config: rulesForTools({ tools: { codex: { upstreams: ["first"] } } }),
    options: { onUnrecorded: (refusal) => reported.push(refusal) },
  });
  const response = await fetch(`${gate.url}/t/codex/v1/responses`, {
    method: "POST",
    ...asJson,
    body: "{}",
  });
  await response.text();
  assert.deepEqual(
    reported.map(({ refused, tool, path }) => [refused, tool, path]),
    [["not_found", "codex", "/t/codex/v1/responses"]],
  );
  assert.deepEqual(gate.ledger.records, []);
});
