import { toolSettings } from "../helpers/config/tool-settings.ts";
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { prepareSettings } from "../../src/core/decide/settings.ts";
import { startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";
import { post, startGate, upstreamAt, type TestGate } from "../helpers/gate/gate.ts";
import { respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";
import { TEST_KEY } from "../helpers/gate/gate.ts";

/** Points the gate at this origin, with a key for it. */
function point({ gate, keys }: TestGate, origin: string): void {
  keys.set({ name: "default", origin }, TEST_KEY);
  gate.use(prepareSettings({ ...gate.settings.config, upstreams: { default: upstreamAt(`${origin}/v1`) } }));
}

const start = (t: TestContext) => startGate(t, "http://127.0.0.1:9/v1");

for (const name of ["127.0.0.1", "localhost", "[::1]"]) {
  test(`a gate whose upstream is itself, as ${name}, answers 508 and leaves one record`, async (t) => {
    const gate = await start(t);
    point(gate, `http://${name}:${gate.port}`);
    const res = await post(gate, "/v1/messages", {});
    assert.deepEqual([res.status, res.headers.get("x-should-retry")], [508, "false"]);
    assert.match(
      await res.text(),
      /a request came back to tollkeeper: .* names port \d+, where tollkeeper itself listens\. .* Type: tollkeeper config edit/,
    );
    const { status, outcome } = await gate.ledger.only();
    assert.deepEqual([status, outcome], [508, "error"]);
  });
}

test("a gate whose upstream is another gate gets no further than that", async (t) => {
  const { upstream, gate: other } = await startGateWithUpstream(t, respondWithMessage);
  const gate = await start(t);
  point(gate, other.url);
  assert.equal((await post(gate, "/v1/messages", {})).status, 508);
  assert.equal((await gate.ledger.only()).status, 508);
  assert.deepEqual([upstream.seen.length, other.ledger.records.length, other.keys.reads], [0, 0, 0]);
});

test("a gate that is reached by an allowed name recognizes itself behind that name", async (t) => {
  const gate = await start(t);
  const listen = { port: 0, allowedHosts: ["llm.example"], allowedOrigins: [], socket: null };
  const upstreams = {
    default: upstreamAt("https://llm.example/v1"),
    other: upstreamAt("https://a.example/v1", { name: "other" }),
  };
  const settings = prepareSettings({ ...gate.gate.settings.config, listen, upstreams });
  assert.equal(settings.destinations[0].upstream.isLocal, true);
  const tools = { codex: toolSettings({ upstreams: ["other"] }) };
  const [{ upstream }] = prepareSettings({ ...settings.config, tools }).destinationsFor("codex");
  assert.equal(upstream.isLocal, false);
});

test("a request with the mark of a tollkeeper is refused before its route and its token", async (t) => {
  const { gate } = await startGateWithUpstream(t, respondWithMessage, {
    config: { access: { mode: "token", peerUid: [] } },
  });
  for (const path of ["/v1/messages", "/nowhere"]) {
    const res = await post(gate, path, {}, { "x-tollkeeper-hop": "1" });
    assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [508, "loop_detected"]);
  }
  assert.deepEqual(gate.ledger.records, []);
});
