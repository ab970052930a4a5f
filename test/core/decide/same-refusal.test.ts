import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { NO_SIZE } from "../../../src/core/budget/budget-request.ts";
import { decide } from "../../../src/core/decide/decide.ts";
import type { BodyFacts, Decision, Need, Refused, Standing } from "../../../src/core/decide/decision.ts";
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

/** What is found only where a body is read. */
const BODY_FAULTS = ["body stops", "model unreadable"] as const;

type Fault = (typeof FAULTS)[number] | (typeof BODY_FAULTS)[number];

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
  faults: readonly Fault[];
  isChunked: boolean;
  waits: boolean;
}

const casesWith = (faults: readonly Fault[]): fc.Arbitrary<Case> =>
  fc.record({
    target: fc.constantFrom(...TARGETS),
    upstreams: fc.constantFrom(...UPSTREAMS),
    faults: fc.subarray([...faults], { maxLength: 4 }),
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
  const has = (...any: readonly Fault[]) => any.some((one) => faults.includes(one));
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
function learned(body: BodyFacts, { what }: Need, faults: Case["faults"]): BodyFacts {
  if (faults.includes("body stops")) return { ...body, refusal: refusal("body_timeout") };
  if (faults.includes("model unreadable")) return unreadable(body, what);
  const place = { model: "some-model", from: 0, to: 0 };
  if (what === "model") return { ...body, reader: { place, fault: null } };
  if (what === "copy") return { ...body, copy: { model: "some-model", fault: null } };
  if (what === "fingerprint") return { ...body, fingerprint: "it" };
  if (what === "size") return { ...body, reader: { place, fault: null }, size: NO_SIZE };
  const batch = { models: new Map([["some-model", 0]]), size: NO_SIZE, fault: null };
  return what === "batch" ? { ...body, batch } : assert.fail(`nothing waits for ${what}`);
}

/** What reading finds of a body that decoders could read differently. */
function unreadable(body: BodyFacts, what: Need["what"]): BodyFacts {
  const fault = "two models";
  if (what === "copy") return { ...body, copy: { model: null, fault } };
  if (what === "fingerprint") return { ...body, fingerprint: "it" };
  if (what === "batch") return { ...body, batch: { models: new Map(), size: NO_SIZE, fault } };
  return { ...body, reader: { place: null, fault }, size: NO_SIZE };
}

function resolve({ target, faults }: Case, headers: HeaderIndex, settings: Settings) {
  const [method = "", url = ""] = target.split(" ");
  const line = { method, url: faults.includes("no such route") ? `${url}/nothing` : url };
  const request = resolveRoute(line, headers, settings);
  return request.kind === "api" || request.kind === "refusal" ? request : assert.fail(request.kind);
}

/** What becomes of a request. */
function decideAbout(sent: Case, limits: readonly (typeof LIMITS)[number][]): Decision | Refused {
  const settings = settingsFor(sent, limits);
  const headers = headersFor(sent);
  const has = (fault: Fault, code: RefusalCode) => (sent.faults.includes(fault) ? refusal(code) : null);
  const request = resolve(sent, headers, settings);
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
  let body: BodyFacts = {
    refusal: null,
    reader: null,
    copy: null,
    batch: null,
    size: null,
    fingerprint: null,
  };
  for (;;) {
    const decision = decide(asked, body, settings, standing);
    if (decision.kind === "list") return assert.fail("no list was asked for");
    if (decision.kind !== "need") return decision;
    body = learned(body, decision, sent.faults);
  }
}

/** What becomes of a request, and whether that leaves a record. */
function outcomeOf(sent: Case, limits: readonly (typeof LIMITS)[number][]): string {
  const decision = decideAbout(sent, limits);
  return decision.kind === "send"
    ? `goes to ${decision.choice.upstream.name}`
    : `${decision.refusal.code}, ${decision.chosen === null ? "without" : "with"} a record`;
}

test("a budget, a brake or a group that refuses nothing changes no refusal, and not whether it leaves a record", () => {
  const limits = fc.subarray([...LIMITS], { minLength: 1 });
  fc.assert(
    fc.property(casesWith(FAULTS), limits, (sent, added) => {
      assert.equal(outcomeOf(sent, added), outcomeOf(sent, []));
    }),
    { numRuns: 1_000 },
  );
});

test("every refusal of a request with a route leaves a record, and none of a request without one", () => {
  fc.assert(
    fc.property(casesWith([...FAULTS, ...BODY_FAULTS]), fc.subarray([...LIMITS]), (sent, limits) => {
      const outcome = outcomeOf(sent, limits);
      if (outcome.startsWith("goes to ")) return;
      const { kind } = resolve(sent, headersFor(sent), settingsFor(sent, limits));
      assert.equal(outcome.endsWith(", with a record"), kind === "api", outcome);
    }),
    { numRuns: 1_000 },
  );
});

test("what is refused at the address of a plan is recorded as the plan's, also before anything is chosen", () => {
  const sent = { upstreams: "one", isChunked: false, waits: false, faults: ["tool paused"] } as const;
  const planned = decideAbout({ ...sent, target: "POST /t/codex/plan/v1/responses" }, []);
  const other = decideAbout({ ...sent, target: "POST /v1/responses" }, []);
  assert.ok(planned.kind === "refuse" && other.kind === "refuse");
  assert.deepEqual([planned.chosen?.choice.account, other.chosen?.choice.account], ["plan", "key"]);
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
