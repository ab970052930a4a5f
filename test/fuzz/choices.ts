import assert from "node:assert/strict";
import * as fc from "fast-check";
import type { Config, Upstream } from "../../src/core/config/config.ts";
import { APIS, SHARED_APIS, type Api } from "../../src/core/http/api.ts";
import { explainDecision, NOTHING_STANDS } from "../../src/core/decide/explain.ts";
import { chooseUpstream } from "../../src/core/decide/choose-upstream.ts";
import { prepareSettings } from "../../src/core/decide/settings.ts";
import { validConfig } from "../core/config/valid-config.ts";
import { post, startGate, upstreamAt } from "../helpers/gate/gate.ts";
import { sendJson, startUpstream } from "../helpers/upstream/scripted-upstream.ts";
import { property, type Property } from "./property.ts";
import { withTestContext } from "./test-context.ts";

/** An upstream as far as the choice depends on it, as in the file. */
interface Rules {
  apis?: string[];
  models?: string[];
}

interface ChoiceCase {
  /** In the order of the file: u0, u1 and so on. */
  upstreams: Rules[];
  /** The upstreams that the tool `zed` may use; undefined for all. */
  allowed: number[] | undefined;
  requests: { tool: string; api: Api; model: string }[];
}

function pathOf({ api, model: named }: { api: Api; model: string }): string {
  if (api === "gemini") return `/v1beta/models/${named}:generateContent`;
  if (api === "bedrock") return `/model/${named}/converse`;
  return api === "chat" ? "/v1/chat/completions" : `/v1/${api}`;
}

const letter = fc.constantFrom("a", "b", "-");
const model = fc.string({ unit: letter, minLength: 1, maxLength: 4 });
const pattern = fc.string({ unit: fc.oneof(letter, fc.constant("*")), minLength: 1, maxLength: 4 });
const rules = fc.record(
  {
    apis: fc.uniqueArray(fc.constantFrom(...APIS), { maxLength: 2 }),
    models: fc.array(pattern, { maxLength: 3 }),
  },
  { requiredKeys: [] },
);

const request = fc.record({
  tool: fc.constantFrom("zed", "pi"),
  api: fc.constantFrom(...APIS),
  model,
});

const choiceCase = (requests: number): fc.Arbitrary<ChoiceCase> =>
  fc.array(rules, { minLength: 1, maxLength: 4 }).chain((upstreams) =>
    fc.record({
      upstreams: fc.constant(upstreams),
      allowed: fc.option(fc.uniqueArray(fc.nat(upstreams.length - 1), { minLength: 1 }), { nil: undefined }),
      requests: fc.array(request, { minLength: 1, maxLength: requests }),
    }),
  );

/**
 * The choice as docs/upstreams.md describes it, written without a look at the code: the first upstream of the file that the tool
 * may use, that serves the API and, if it names models, has a pattern for this one.
 */
function choose(
  { upstreams, allowed }: ChoiceCase,
  { tool, api, model: wanted }: ChoiceCase["requests"][number],
) {
  // A path of Google or Bedrock names a model that begins with a letter or a digit (docs/wire.md sections 12 and 14).
  if ((api === "gemini" || api === "bedrock") && wanted.startsWith("-")) return null;
  for (const [index, { apis, models }] of upstreams.entries()) {
    if (tool === "zed" && allowed !== undefined && !allowed.includes(index)) continue;
    if (!((apis ?? SHARED_APIS) as readonly string[]).includes(api)) continue;
    const asExpressions = models?.map((text) => `^${text.split("*").map(escape).join("[^]*")}$`);
    if (asExpressions !== undefined && !asExpressions.some((text) => new RegExp(text).test(wanted))) continue;
    return `u${index}`;
  }
  return null;
}

function escape(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

function configOf({ upstreams, allowed }: ChoiceCase): Config {
  const entries = upstreams.map((one, index) => [
    `u${index}`,
    { baseUrl: `https://u${index}.example/v1`, ...one },
  ]);
  const tools = allowed === undefined ? {} : { zed: { upstreams: allowed.map((index) => `u${index}`) } };
  return validConfig({ upstreams: Object.fromEntries(entries), tools });
}

/** Chooses as the gate does, and reads the model only where the choice asks for it. */
function checkChoices(one: ChoiceCase): void {
  const config = configOf(one);
  const settings = prepareSettings(config);
  for (const asked of one.requests) {
    const path = pathOf(asked);
    const match = settings.table.find("POST", path);
    const expected = choose(one, asked);
    const { verdicts } = explainDecision(settings, asked, NOTHING_STANDS);
    const chosen = verdicts.filter(({ isChosen }) => isChosen);
    assert.deepEqual(
      chosen.map(({ upstream }) => upstream.name),
      expected === null ? [] : [expected],
    );
    if (match === null || "allow" in match) {
      assert.equal(expected, null);
      continue;
    }
    const resolved = {
      kind: "api",
      mark: null,
      method: "POST",
      path,
      query: "",
      match,
      plan: null,
      ownKey: null,
      speaksMessages: false,
      speaksGoogle: false,
      isForm: false,
    } as const;
    const destinations = settings.destinationsFor(asked.tool);
    const atOnce = chooseUpstream(resolved, destinations, settings, null);
    const choice = atOnce ?? chooseUpstream(resolved, destinations, settings, asked.model);
    assert.equal("code" in choice ? null : choice.upstream.name, expected);
  }
}

/** Sends the requests through a gate to real servers, each of which knows which key is its own. */
async function checkGate(one: ChoiceCase): Promise<void> {
  await withTestContext(async (t) => {
    const gate = await startGate(t, "http://127.0.0.1:9/v1");
    const config = configOf(one);
    const servers = await Promise.all(
      Object.keys(config.upstreams).map(async (name) => {
        const server = await startUpstream(t, (seen, res) =>
          sendJson(res, { id: name, keys: seen.rawHeaders.join("\n").match(/sentinel-\w+/g) }),
        );
        gate.keys.set({ name: "default", origin: server.origin }, `sentinel-${name}`);
        const { apis, models } = config.upstreams[name] as Upstream;
        return [name, upstreamAt(server.baseUrl, { name, apis, models })] as const;
      }),
    );
    gate.gate.use(prepareSettings({ ...config, upstreams: Object.fromEntries(servers) }));
    for (const asked of one.requests) {
      const response = await post(gate, `/t/${asked.tool}${pathOf(asked)}`, { model: asked.model });
      const body = (await response.json()) as { id?: string; keys?: string[] };
      const expected = choose(one, asked);
      assert.equal(response.status === 200 ? body.id : null, expected);
      if (expected !== null) assert.deepEqual(body.keys, [`sentinel-${expected}`]);
    }
    const written = JSON.stringify([gate.ledger.records, gate.log.lines]);
    assert.ok(!written.includes("sentinel-"));
  });
}

export const CHOICES: readonly Property[] = [
  property(
    "choice: the upstream is that of the description, and `route` explains the same",
    { batch: 50 },
    fc.property(choiceCase(1000), checkChoices),
  ),
];

/** Takes a tenth of a second per case because of sockets, so only `npm run fuzz` checks it. */
export const CHOSEN_UPSTREAMS: readonly Property[] = [
  property(
    "choice: each request reaches the upstream of the description with that upstream's key, and no key is written anywhere",
    { batch: 10 },
    fc.asyncProperty(choiceCase(20), checkGate),
  ),
];
