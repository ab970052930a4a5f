// G1, what leaves to a collector: what is listed in core/export/describe-exchange.ts, and nothing else that a record or a request has.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { test } from "node:test";
import { describeExchange } from "../../src/core/export/describe-exchange.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import type { Daemon } from "../helpers/daemon/daemon.ts";
import { startDaemonWithUpstream } from "../helpers/daemon/daemon-with-upstream.ts";
import { usageRecord } from "../helpers/ledger/usage-record.ts";
import { readMemory } from "../helpers/process/process-memory.ts";
import { resourceOf, startOtlpReceiver } from "../helpers/otlp/otlp-receiver.ts";
import { respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";
import { assertNowhere, makeSentinel } from "./leak-search.ts";

const linuxOnly = process.platform === "linux" ? false : "needs Linux: reads /proc";
const PROMPT = "a prompt that must stay here";
const AGENT = "agent-that-must-stay-here/1.0";

for (const trace of [false, true])
  test(
    `a request's prompt, response, headers and key reach no collector, and the exporter never has the key (trace: ${trace})`,
    { timeout: 300_000, skip: linuxOnly },
    async (t) => {
      const receiver = await startOtlpReceiver(t);
      const key = makeSentinel();
      const otlp = { endpoint: receiver.endpoint, intervalMs: 1_000, trace };
      const { daemon } = await startDaemonWithUpstream(t, respondWithMessage, {
        key,
        config: { export: { otlp } },
      });
      const pid = await waitForExporter(daemon);
      const body = JSON.stringify({
        model: "claude-sonnet-5",
        messages: [{ role: "user", content: PROMPT }],
      });
      const headers = { "content-type": "application/json", "user-agent": AGENT, "x-private": PROMPT };
      await (
        await fetch(`${daemon.url}/v1/messages?q=${encodeURIComponent(PROMPT)}`, {
          method: "POST",
          headers,
          body,
        })
      ).text();
      await waitUntil("its record", () => (receiver.records.size > 0 ? true : null));
      const sent = receiver.requests
        .map(({ body: bytes, headers: got }) => `${bytes.toString("latin1")} ${JSON.stringify(got)}`)
        .join();
      for (const text of [PROMPT, AGENT, "Hello"]) assert.ok(!sent.includes(text), text);
      assertNowhere(key, { sent, ...insideOf(pid) });
    },
  );

test("neither machine nor user is named, and nothing says where a tool works", async (t) => {
  const receiver = await startOtlpReceiver(t);
  const otlp = { endpoint: receiver.endpoint, intervalMs: 1_000 };
  const config = { export: { otlp }, ledger: { project: true } };
  const { daemon } = await startDaemonWithUpstream(t, respondWithMessage, { config });
  await waitForExporter(daemon);
  const body = JSON.stringify({ model: "claude-sonnet-5", messages: [] });
  await (
    await fetch(`${daemon.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    })
  ).text();
  await waitUntil("its record", () => (receiver.records.size > 0 ? true : null));
  const names = receiver.requests.flatMap(({ message }) => Object.keys(resourceOf(message)));
  assert.deepEqual([...new Set(names)].sort(), ["service.instance.id", "service.name", "service.version"]);
  const sent = receiver.requests.map(({ body: bytes }) => bytes.toString("latin1")).join();
  for (const text of [hostname(), `/home/${userInfo().username}`, process.cwd()])
    assert.ok(!sent.includes(text), text);
});

test("of a record leave the attributes that the documentation lists, and no others", () => {
  const everything = describeExchange(
    usageRecord({
      process: { pid: 1, executable: "/usr/bin/secret", parents: ["secret"] },
      project: "/home/secret",
      branch: "secret",
      user_agent: "secret",
      raw_usage: { secret: 1 },
      stop: "end_turn",
      error_type: "overloaded",
      outcome: "error",
      status: 529,
      alias: "other",
      cut_by: "client",
      attempt_of: "first",
      service_tier: "standard",
      billed_usd: "0.1",
      upstream_request_id: "req_1",
      flags: ["bad_json"],
    }),
  );
  assert.ok(!JSON.stringify(everything).includes("secret"));
  const page = readFileSync(new URL("../../docs/export.md", import.meta.url), "utf8");
  const listed = [...page.matchAll(/^\| `([a-z_.]+)`/gm)].map(([, name]) => name);
  const left = Object.keys(everything.attributes);
  assert.deepEqual(
    left.filter((name) => !listed.includes(name)),
    [],
  );
});

/** Waits until an exporter has begun, which is with the next record, and returns its process. */
function waitForExporter(daemon: Daemon): Promise<number> {
  return waitUntil("an exporter", async () => {
    const exported = (await daemon.status()).export;
    return exported?.lastAcceptedAt === null ? null : (exported?.pid ?? null);
  });
}

/** Returns the arguments, the environment and the memory of a process. */
function insideOf(pid: number): Record<string, string> {
  const memory = readMemory(pid);
  // Otherwise the search would find nothing wherever the key is.
  assert.ok(Object.values(memory).some((text) => text.includes("tollkeeper")));
  const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, "latin1");
  return { ...memory, arguments: read("cmdline"), environment: read("environ") };
}
