import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request as startRequest, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import * as fc from "fast-check";
import { prepareSettings } from "../../src/core/decide/settings.ts";
import { startSandbox, type Sandbox } from "../../src/sandbox/server.ts";
import { startGate, upstreamAt, type TestGate } from "../helpers/gate/gate.ts";
import { property, type Property } from "./property.ts";
import { withTestContext } from "./test-context.ts";

/** The upstreams, in the order in which they are asked. */
const NAMES = ["a", "b", "c"] as const;
type Name = (typeof NAMES)[number];

/** What an upstream is. All but sandboxes treat each request in the same way. */
const KINDS = ["sandbox", "down", "early", "early and closing"] as const;
type Kind = (typeof KINDS)[number];

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
  /** In how many pieces the client sends the body, each in a turn of its own. */
  pieces: number;
  /** After how many turns the client leaves; null if it stays. The upstreams do not respond to one that leaves late. */
  leavesAfter: number | null;
}

interface FallbackCase {
  kinds: Record<Name, Kind>;
  requests: FallbackRequest[];
}

const behaviour = fc.constantFrom(...(Object.keys(BEHAVIOURS) as Behaviour[]));
const anyKind = fc.oneof(
  { weight: 4, arbitrary: fc.constant("sandbox" as const) },
  fc.constantFrom(...KINDS),
);

const fallbackRequest: fc.Arbitrary<FallbackRequest> = fc.record({
  does: fc.record({ a: behaviour, b: behaviour, c: behaviour }),
  stream: fc.boolean(),
  paddingBytes: fc.constantFrom(0, 10, 70_000, 300_000),
  pieces: fc.constantFrom(1, 1, 2, 5),
  leavesAfter: fc.option(fc.nat(60), { freq: 4 }),
});

const fallbackCase: fc.Arbitrary<FallbackCase> = fc.record({
  kinds: fc.record({ a: anyKind, b: anyKind, c: anyKind }),
  requests: fc.oneof(
    { weight: 20, arbitrary: fc.array(fallbackRequest, { minLength: 1, maxLength: 12 }) },
    { weight: 1, arbitrary: fc.array(fallbackRequest, { minLength: 200, maxLength: 300, size: "max" }) },
  ),
});

/** What a client got: a whole response, an error, a connection that broke, or nothing, because it left. */
type Result = "whole" | "error" | "broken" | "left";

async function send(gate: TestGate, asked: FallbackRequest, id: string): Promise<Result> {
  const { stream, paddingBytes, pieces, leavesAfter } = asked;
  const switches = NAMES.flatMap((name) => {
    const late = leavesAfter !== null && leavesAfter > 30 ? ["hang"] : [];
    return [...BEHAVIOURS[asked.does[name]].switches, ...late].map((one) => `${name}:${one}`);
  });
  const content = "x".repeat(paddingBytes);
  const body = Buffer.from(
    JSON.stringify({
      model: "claude-sonnet-5",
      max_tokens: 20,
      stream,
      messages: [{ role: "user", content }],
    }),
  );
  const request = startRequest(`${gate.url}/v1/messages`, {
    method: "POST",
    agent: false,
    headers: {
      "content-type": "application/json",
      "content-length": body.length,
      "x-client-request-id": id,
      ...(switches.length === 0 ? {} : { "x-sandbox": switches.join(", ") }),
    },
  });
  request.on("error", () => {});
  const result = read(request, stream);
  void sendBody(request, body, pieces);
  if (leavesAfter === null) return result;
  for (let turn = 0; turn < leavesAfter; turn += 1) await setImmediate();
  request.destroy();
  return "left";
}

async function sendBody(
  request: ReturnType<typeof startRequest>,
  body: Buffer,
  pieces: number,
): Promise<void> {
  const bytes = Math.ceil(body.length / pieces);
  for (let piece = 0; piece < pieces; piece += 1) {
    request.write(body.subarray(piece * bytes, (piece + 1) * bytes));
    if (pieces > 1) for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  }
  request.end();
}

/** Reads the response. A status of 200 must not hide that it is incomplete. */
async function read(request: ReturnType<typeof startRequest>, stream: boolean): Promise<Result> {
  try {
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const text = Buffer.concat(await response.toArray()).toString();
    if (response.statusCode !== 200) return "error";
    assert.match(text, stream ? /event: message_stop\n.*\n\n$/ : /\}\s*$/);
    return "whole";
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return "broken";
  }
}

/** What docs/upstreams.md promises for a request while no circuit is open; null where that is a matter of time. */
function expect({ does }: FallbackRequest, kinds: FallbackCase["kinds"]): Result | null {
  for (const name of NAMES) {
    // A reset may overtake the response that was sent before it.
    if (kinds[name] === "early and closing") return null;
    if (kinds[name] !== "sandbox" || BEHAVIOURS[does[name]].provesNothing) continue;
    if (does[name] === "failing") return "error";
    return does[name] === "good" || does[name] === "slow" ? "whole" : "broken";
  }
  return "error";
}

interface Upstream {
  baseUrl: string;
  sandbox: Sandbox | null;
  close(): Promise<void>;
}

/** An upstream that responds to each request with 429 as soon as it has the head, and reads no body. */
async function startEarly(closes: boolean): Promise<Upstream> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((req, res) => {
    req.on("error", () => {});
    res.writeHead(429, { "content-type": "application/json" }).end(`{"error":{"type":"rate_limit_error"}}`);
    if (closes) res.socket?.end(() => req.socket.destroy());
  });
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const close = async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, "close");
  };
  return { baseUrl, sandbox: null, close };
}

async function startUpstream(name: Name, kind: Kind): Promise<Upstream> {
  if (kind.startsWith("early")) return startEarly(kind === "early and closing");
  const sandbox = await startSandbox({ name, keys: [{ name, secret: `sk-sandbox-${name}`, group: "all" }] });
  if (kind === "down") await sandbox.close();
  const close = async () => (kind === "down" ? undefined : sandbox.close());
  return { baseUrl: sandbox.baseUrl, sandbox, close };
}

function useUpstreams(gate: TestGate, upstreams: readonly (readonly [Name, Upstream])[]): void {
  for (const [name, { baseUrl }] of upstreams)
    gate.keys.set({ name, origin: new URL(baseUrl).origin }, `sk-sandbox-${name}`);
  const settings = upstreams.map(([name, { baseUrl }]) => {
    const fallback = name === "a" ? ["b", "c"] : [];
    return [name, upstreamAt(baseUrl, { name, key: name, fallback })] as const;
  });
  const { config } = gate.gate.settings;
  gate.gate.use(prepareSettings({ ...config, upstreams: Object.fromEntries(settings) }));
}

/** Sends all requests at once, and holds what the clients got against the books of the sandboxes and the ledger. */
async function checkFallback({ kinds, requests }: FallbackCase): Promise<void> {
  await withTestContext(async (t) => {
    const gate = await startGate(t, "http://127.0.0.1:9/v1", {
      config: { abort: { graceMs: 20 } },
    });
    const upstreams = await Promise.all(
      NAMES.map(async (name) => [name, await startUpstream(name, kinds[name])] as const),
    );
    useUpstreams(gate, upstreams);
    try {
      const results = await Promise.all(requests.map((request, id) => send(gate, request, String(id))));
      await gate.gate.drain();
      const executed = upstreams.flatMap(([, { sandbox }]) => sandbox?.executions() ?? []);
      checkRecords(gate, results);
      for (const [index, result] of results.entries()) {
        const times = executed.filter(({ clientRequestId: id }) => id === String(index)).length;
        assert.ok(times <= 1, `request ${index} was executed ${times} times`);
        if (result === "whole") assert.equal(times, 1);
        if (result === "error") assert.equal(times, 0);
        // Three failures in a row open a circuit.
        const expected = requests.length < 3 ? expect(requests[index] as FallbackRequest, kinds) : null;
        if (expected !== null && result !== "left") assert.equal(result, expected);
      }
      assert.deepEqual([gate.gate.openExchanges, gate.gate.bufferedBytes], [0, 0]);
    } finally {
      for (const [, upstream] of upstreams) await upstream.close();
    }
  });
}

/** One record for the first attempt of each request, except that a client may leave before there is a request. */
function checkRecords({ ledger: { records } }: TestGate, results: readonly Result[]): void {
  const ids = new Set(records.map(({ id }) => id));
  assert.equal(ids.size, records.length);
  for (const { attempt_of: of } of records) assert.ok(of === null || ids.has(of), "an attempt of nothing");
  const first = records.filter(({ attempt_of: of }) => of === null).length;
  assert.ok(first <= results.length && first >= results.filter((result) => result !== "left").length);
}

export const FALLBACKS: readonly Property[] = [
  property(
    "fallback: no request is executed twice, and every client gets one whole response or one failure",
    { batch: 10 },
    fc.asyncProperty(fallbackCase, checkFallback),
  ),
];
