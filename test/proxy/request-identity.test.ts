import assert from "node:assert/strict";
import { test } from "node:test";
import { configSchema } from "../../src/core/config/schema.ts";
import type { ToolEvidence } from "../../src/core/ledger/record.ts";
import { RequestIdentity, type Peer } from "../../src/proxy/request-identity.ts";
import { prepareSettings } from "../../src/proxy/settings.ts";
import type { PeerProcess } from "../../src/ports.ts";

const FILE = {
  upstreams: { default: { baseUrl: "https://a.example/v1" }, other: { baseUrl: "https://b.example/v1" } },
  tools: {
    codex: { key: "codex" },
    aider: { upstream: "other" },
    curl: { key: "curl" },
    // The same as nothing.
    "claude-code": { key: "default" },
  },
};

function settings() {
  const reading = configSchema.read(FILE, []);
  assert.ok("value" in reading);
  return prepareSettings(reading.value);
}

function processOf(tool: string | null): PeerProcess | null {
  if (tool === null) return null;
  const record = { pid: 4711, executable: `/usr/bin/${tool}`, parents: [] };
  return { record, name: { tool, isOwn: false } };
}

/** Key and upstream by which a request is sent, and what its record says once the process is known. */
function sendAs(tool: string, by: ToolEvidence, before: PeerProcess | null, after: PeerProcess | null) {
  const peer: Peer = { process: before, project: null };
  const caller = new RequestIdentity({ tool, by, session: null }, peer, settings());
  const sent = `${caller.key.name} ${caller.upstream.upstream.name}`;
  peer.process = after;
  return { sent, recorded: `${caller.identity.tool} by ${caller.identity.by}` };
}

for (const { what, as, before, after, sent, recorded } of [
  {
    what: "a process that is known when the request comes decides over key and upstream",
    as: ["unknown", "unknown"],
    before: "codex",
    after: "codex",
    sent: "codex default",
    recorded: "codex by process",
  },
  {
    what: "one that is found later names the request where nothing else is configured for it",
    as: ["unknown", "unknown"],
    before: null,
    after: "opencode",
    sent: "default default",
    recorded: "opencode by process",
  },
  {
    what: "what is configured for it may say the same as what holds for all",
    as: ["unknown", "unknown"],
    before: null,
    after: "claude-code",
    sent: "default default",
    recorded: "claude-code by process",
  },
  {
    what: "one that is found later and has another key does not",
    as: ["unknown", "unknown"],
    before: null,
    after: "codex",
    sent: "default default",
    recorded: "unknown by unknown",
  },
  {
    what: "nor one that has another upstream",
    as: ["unknown", "unknown"],
    before: null,
    after: "aider",
    sent: "default default",
    recorded: "unknown by unknown",
  },
  {
    what: "nor does it take a name away by which a key was chosen",
    as: ["curl", "library"],
    before: null,
    after: "claude-code",
    sent: "curl default",
    recorded: "curl by library",
  },
  {
    what: "stronger evidence stands, whenever the process is found",
    as: ["codex", "signature"],
    before: null,
    after: "opencode",
    sent: "codex default",
    recorded: "codex by signature",
  },
  {
    what: "without a process the request's own evidence stands",
    as: ["curl", "library"],
    before: null,
    after: null,
    sent: "curl default",
    recorded: "curl by library",
  },
] as const) {
  test(what, () => {
    const [tool, by] = as;
    assert.deepEqual(sendAs(tool, by, processOf(before), processOf(after)), { sent, recorded });
  });
}
