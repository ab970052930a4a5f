import assert from "node:assert/strict";
import * as fc from "fast-check";
import { prepareSettings } from "../../src/proxy/settings.ts";
import { startSandbox, type Sandbox } from "../../src/sandbox/server.ts";
import { startGate, upstreamAt, type TestGate } from "../helpers/gate/gate.ts";
import { property, type Property } from "./property.ts";
import { withTestContext } from "./test-context.ts";

/** The sandboxes, in the order in which they are asked. */
const NAMES = ["a", "b", "c"] as const;
type Name = (typeof NAMES)[number];

/** What a sandbox does with a request: the switches, and whether that proves that nothing was done. */
const BEHAVIOURS = {
  good: { switches: [], provesNothing: false },
  slow: { switches: ["delay=5", "pace=1"], provesNothing: false },
  limited: { switches: ["error=429"], provesNothing: true },
  unavailable: { switches: ["error=503"], provesNothing: true },
  overloaded: { switches: ["delay=3", "error=529"], provesNothing: true },
  failing: { switches: ["error=500"], provesNothing: false },
  reset: { switches: ["reset"], provesNothing: false },
  "reset within": { switches: ["cut=2", "reset"], provesNothing: false },
  closed: { switches: ["cut=3"], provesNothing: false },
} as const;
type Behaviour = keyof typeof BEHAVIOURS;

interface FallbackRequest {
  does: Record<Name, Behaviour>;
  stream: boolean;
  paddingBytes: number;
}

interface FallbackCase {
  /** Those that refuse connections. */
  down: Name[];
  requests: FallbackRequest[];
}

const behaviour = fc.constantFrom(...(Object.keys(BEHAVIOURS) as Behaviour[]));

const fallbackCase: fc.Arbitrary<FallbackCase> = fc.record({
  down: fc.subarray([...NAMES], { maxLength: 2 }),
  requests: fc.array(
    fc.record({
      does: fc.record({ a: behaviour, b: behaviour, c: behaviour }),
      stream: fc.boolean(),
      paddingBytes: fc.constantFrom(0, 10, 70_000, 300_000),
    }),
    { minLength: 1, maxLength: 12 },
  ),
});

/** What a client got: a whole response, an error, or a connection that broke. */
type Result = "whole" | "error" | "broken";

async function send(gate: TestGate, request: FallbackRequest, id: string): Promise<Result> {
  const switches = NAMES.flatMap((name) =>
    BEHAVIOURS[request.does[name]].switches.map((one) => `${name}:${one}`),
  );
  const { stream, paddingBytes } = request;
  const content = "x".repeat(paddingBytes);
  const body = { model: "claude-sonnet-5", max_tokens: 20, stream, messages: [{ role: "user", content }] };
  try {
    const response = await fetch(`${gate.url}/v1/messages`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-client-request-id": id,
        "x-sandbox": switches.join(", "),
      },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (response.status !== 200) return "error";
    assert.match(text, stream ? /event: message_stop\n.*\n\n$/ : /\}\s*$/);
    return "whole";
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return "broken";
  }
}

/** What docs/upstreams.md promises for a request while no upstream rests. */
function expect({ does }: FallbackRequest, down: readonly Name[]): Result {
  const asked = NAMES.find((name) => !down.includes(name) && !BEHAVIOURS[does[name]].provesNothing);
  if (asked === undefined || does[asked] === "failing") return "error";
  return does[asked] === "good" || does[asked] === "slow" ? "whole" : "broken";
}

async function startAll(gate: TestGate, down: readonly Name[]): Promise<Map<Name, Sandbox>> {
  const sandboxes = new Map<Name, Sandbox>();
  for (const name of NAMES) {
    const secret = `sk-sandbox-${name}`;
    const sandbox = await startSandbox({ name, keys: [{ name, secret, group: "all" }] });
    sandboxes.set(name, sandbox);
    gate.keys.set({ name, origin: new URL(sandbox.baseUrl).origin }, secret);
    if (down.includes(name)) await sandbox.close();
  }
  const upstreams = Object.fromEntries(
    [...sandboxes].map(([name, { baseUrl }]) => {
      const fallback = name === "a" ? ["b", "c"] : [];
      return [name, upstreamAt(baseUrl, { name, key: name, fallback })];
    }),
  );
  gate.gate.use(prepareSettings({ ...gate.gate.settings.config, upstreams }));
  return sandboxes;
}

/** Sends all requests at once, and holds what the clients got against the books of the sandboxes and the ledger. */
async function checkFallback({ down, requests }: FallbackCase): Promise<void> {
  await withTestContext(async (t) => {
    const gate = await startGate(t, "http://127.0.0.1:9/v1");
    const sandboxes = await startAll(gate, down);
    try {
      const results = await Promise.all(requests.map((request, id) => send(gate, request, String(id))));
      const executions = [...sandboxes.values()].flatMap((sandbox) => sandbox.executions());
      const first = await waitForRecords(gate, requests.length);
      assert.equal(first, requests.length, "one first attempt for each request");
      for (const [index, result] of results.entries()) {
        const times = executions.filter(({ clientRequestId: id }) => id === String(index)).length;
        assert.ok(times <= 1, `request ${index} was executed ${times} times`);
        if (result === "whole") assert.equal(times, 1);
        if (result === "error") assert.equal(times, 0);
        // Three failures in a row let an upstream rest.
        if (requests.length < 3) assert.equal(result, expect(requests[index] as FallbackRequest, down));
      }
      assert.equal(gate.gate.bufferedBytes, 0);
    } finally {
      for (const [name, sandbox] of sandboxes) if (!down.includes(name)) await sandbox.close();
    }
  });
}

/** Waits until every exchange has its record. Returns how many are of a first attempt. */
async function waitForRecords(gate: TestGate, atLeast: number): Promise<number> {
  await gate.ledger.first(atLeast);
  for (let count = atLeast; gate.gate.openExchanges > 0; count = gate.ledger.records.length + 1)
    await gate.ledger.first(count);
  const { records } = gate.ledger;
  const ids = new Set(records.map(({ id }) => id));
  for (const { attempt_of: of } of records) assert.ok(of === null || ids.has(of), "an attempt of nothing");
  return records.filter(({ attempt_of: of }) => of === null).length;
}

export const FALLBACKS: readonly Property[] = [
  property(
    "fallback: no request is executed twice, and every client gets one whole response or one failure",
    { batch: 10 },
    fc.asyncProperty(fallbackCase, checkFallback),
  ),
];
