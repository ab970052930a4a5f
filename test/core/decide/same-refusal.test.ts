import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { NO_SIZE } from "../../../src/core/budget/budget-request.ts";
import { decide } from "../../../src/core/decide/decide.ts";
import type { BodyFacts, Need, Standing } from "../../../src/core/decide/decision.ts";
import { resolveRoute } from "../../../src/core/decide/resolve-route.ts";
import { prepareSettings, type Settings } from "../../../src/core/decide/settings.ts";
import { HeaderIndex } from "../../../src/core/http/header-index.ts";
import type { Refusal, RefusalCode } from "../../../src/core/refusals/refusal.ts";
import { validConfig } from "../config/valid-config.ts";

const LIMIT_BYTES = 2_000;

/** What is wrong with a request, or stands against it. */
const FAULTS = [
  "no token",
  "tool paused",
  "body too long",
  "login of a plan",
  "model not allowed",
  "budget spent",
  "brake exceeded",
  "limits kept",
  "model not served",
  "no such route",
] as const;

/** Limits that refuse nothing. */
const LIMITS = ["budget", "brake", "group"] as const;

/** How the upstreams are configured: what decides between them. */
const UPSTREAMS = ["one", "models", "alias", "own key"] as const;

// No lists of models, files or stored batches: a group or a budget answers lists itself, and refuses what is stored.
const TARGETS = [
  "POST /v1/messages",
  "POST /v1/messages/count_tokens",
  "POST /v1/messages/batches",
  "POST /v1/responses",
  "POST /v1/chat/completions",
  "GET /v1/responses/resp_1",
  "POST /v1beta/models/some-model:generateContent",
  "POST /model/some-model/converse",
  "POST /t/codex/plan/v1/responses",
] as const;

interface Case {
  target: (typeof TARGETS)[number];
  upstreams: (typeof UPSTREAMS)[number];
  faults: readonly (typeof FAULTS)[number][];
  isChunked: boolean;
  waits: boolean;
}

const cases: fc.Arbitrary<Case> = fc.record({
  target: fc.constantFrom(...TARGETS),
  upstreams: fc.constantFrom(...UPSTREAMS),
  faults: fc.subarray([...FAULTS], { maxLength: 4 }),
  isChunked: fc.boolean(),
  waits: fc.boolean(),
});

const refusal = (code: RefusalCode): Refusal => ({ code, problem: "", command: "" });

const prepared = new Map<string, Settings>();

/** Prepares each configuration once. */
function settingsFor({ upstreams, faults }: Case, limits: readonly (typeof LIMITS)[number][]): Settings {
  const id = JSON.stringify([upstreams, faults, limits]);
  const settings = prepared.get(id) ?? prepare({ upstreams, faults }, limits);
  prepared.set(id, settings);
  return settings;
}

function prepare(
  { upstreams, faults }: Pick<Case, "upstreams" | "faults">,
  limits: readonly (typeof LIMITS)[number][],
): Settings {
  const has = (...any: readonly (typeof FAULTS)[number][]) => any.some((one) => faults.includes(one));
  const models = has("model not served") ? ["other-*"] : ["some-*"];
  const apis = ["messages", "responses", "chat", "gemini", "bedrock", "files"];
  const at = (name: string, more: object) => ({ baseUrl: `https://${name}.example/v1`, apis, ...more });
  const isOwn = upstreams === "own key";
  const first = at("first", {
    ...(upstreams === "models" || has("model not served") ? { models } : {}),
    ...(isOwn ? { credential: "client" } : {}),
  });
  const config = validConfig({
    upstreams: upstreams === "models" ? { first, second: at("second", { models }) } : { first },
    ...(upstreams === "alias" ? { aliases: { "some-model": "some-other" } } : {}),
    limits: { bodyBytes: LIMIT_BYTES },
    plans: ["codex"],
    tools: {
      codex: {
        group: "it",
        ...(has("budget spent") || limits.includes("budget") ? { budgets: [{ usd: 20, per: "day" }] } : {}),
        ...(has("brake exceeded", "limits kept") ? { brake: { concurrent: 1, keep: 10 } } : {}),
      },
    },
    groups: {
      it: {
        ...(has("model not allowed") ? { models: ["none-*"] } : {}),
        ...(!has("model not allowed") && limits.includes("group") ? { models: ["*"] } : {}),
        ...(limits.includes("brake") ? { brake: "gentle" } : {}),
      },
    },
  });
  return prepareSettings(config);
}

function headersFor({ target, faults, isChunked, upstreams }: Case): HeaderIndex {
  const length = faults.includes("body too long") ? LIMIT_BYTES + 1 : LIMIT_BYTES;
  const framing = isChunked ? ["transfer-encoding", "chunked"] : ["content-length", String(length)];
  const isPlan = target.includes("/plan/");
  const login = ["authorization", "Bearer eyJhbGci.eyJhY2M.c2ln", "chatgpt-account-id", "8d1e"];
  const key = upstreams === "own key" ? ["authorization", "Bearer key-of-the-tool"] : [];
  return new HeaderIndex([
    "host",
    "127.0.0.1:8655",
    "content-type",
    "application/json",
    ...(target.startsWith("POST") ? framing : []),
    ...(faults.includes("login of a plan") !== isPlan ? login : key),
  ]);
}

/** What reading finds. */
function learned(body: BodyFacts, { what }: Need): BodyFacts {
  const place = { model: "some-model", from: 0, to: 0 };
  if (what === "model") return { ...body, reader: { place, fault: null } };
  if (what === "copy") return { ...body, copy: { model: "some-model", fault: null } };
  if (what === "fingerprint") return { ...body, fingerprint: "it" };
  if (what === "size") return { ...body, reader: { place, fault: null }, size: NO_SIZE };
  const batch = { models: new Map([["some-model", 0]]), size: NO_SIZE, fault: null };
  return what === "batch" ? { ...body, batch } : assert.fail(`nothing waits for ${what}`);
}

/** What becomes of a request, and whether that leaves a record. */
function outcomeOf(sent: Case, limits: readonly (typeof LIMITS)[number][]): string {
  const settings = settingsFor(sent, limits);
  const headers = headersFor(sent);
  const has = (fault: (typeof FAULTS)[number], code: RefusalCode) =>
    sent.faults.includes(fault) ? refusal(code) : null;
  const [method = "", url = ""] = sent.target.split(" ");
  const line = { method, url: sent.faults.includes("no such route") ? `${url}/nothing` : url };
  const request = resolveRoute(line, headers, settings);
  if (request.kind !== "api" && request.kind !== "refusal") return assert.fail(request.kind);
  const standing: Standing = {
    pauses: { judge: () => has("tool paused", "paused"), namesTools: false },
    brakes: { judge: () => has("brake exceeded", "braked") },
    limits: { judge: () => has("limits kept", "limit_kept") },
    budgets: { counting: null, judge: () => has("budget spent", "budget_spent") },
    creators: { find: () => null },
  };
  const peer = { project: null, isProjectPending: false, isOwn: true };
  const client = { tool: "codex", isProvisional: false, refusal: has("no token", "token_required"), peer };
  const asked = { request, headers, client, expectsContinue: sent.waits };
  let body: BodyFacts = { reader: null, copy: null, batch: null, size: null, fingerprint: null };
  for (;;) {
    const decision = decide(asked, body, settings, standing);
    if (decision.kind === "list") return assert.fail("no list was asked for");
    if (decision.kind === "send") return `goes to ${decision.choice.upstream.name}`;
    if (decision.kind === "refuse")
      return `${decision.refusal.code}, ${decision.chosen === null ? "without" : "with"} a record`;
    body = learned(body, decision);
  }
}

test("a budget, a brake or a group that refuses nothing changes no refusal, and not whether it leaves a record", () => {
  const limits = fc.subarray([...LIMITS], { minLength: 1 });
  fc.assert(
    fc.property(cases, limits, (sent, added) => {
      assert.equal(outcomeOf(sent, added), outcomeOf(sent, []));
    }),
    { numRuns: 1_000 },
  );
});

for (const limits of [[], ...LIMITS.map((one) => [one]), LIMITS])
  test(`without a token, a body that is too long is refused for the token, with ${limits.join(", ") || "no limits"}`, () => {
    const sent = { target: "POST /v1/messages", upstreams: "one", isChunked: false, waits: false } as const;
    const outcome = (...faults: Case["faults"]) => outcomeOf({ ...sent, faults }, limits);
    assert.equal(outcome("no token", "body too long"), "token_required, with a record");
    assert.equal(outcome("body too long"), "body_too_large, with a record");
    assert.equal(outcome("body too long", "budget spent"), "budget_spent, with a record");
    assert.equal(outcome("body too long", "model not allowed"), "body_too_large, with a record");
  });
