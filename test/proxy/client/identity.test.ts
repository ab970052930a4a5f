import assert from "node:assert/strict";
import { test } from "node:test";
import { configSchema } from "../../../src/core/config/schema.ts";
import { HeaderIndex } from "../../../src/core/http/header-index.ts";
import { UNKNOWN_OWNER } from "../../../src/adapters/peer/unknown-owner.ts";
import { Peer } from "../../../src/proxy/client/peer.ts";
import { ClientIdentity } from "../../../src/proxy/client/identity.ts";
import { prepareSettings } from "../../../src/core/decide/settings.ts";
import { TokenRegistry } from "../../../src/proxy/client/token-registry.ts";
import type { PeerProcess } from "../../../src/ports.ts";
import { REQUEST_SIGNATURES, WRITABLE_TOOL_NAMES } from "../../../src/tools/all.ts";
import { Keyring } from "../../../src/proxy/keyring.ts";
import { ManualClock, MemoryKeys, MemoryLog, MemoryTokens } from "../../helpers/gate/memory.ts";

const FILE = {
  upstreams: { default: { baseUrl: "https://a.example/v1" }, other: { baseUrl: "https://b.example/v1" } },
  tools: {
    codex: { key: "codex" },
    aider: { upstreams: ["other"] },
    curl: { key: "curl" },
    // Says what the defaults say.
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
  return { record, name: { tool, isProgramName: false } };
}

/** What the request itself says about its tool: a path mark, or a header. */
interface Evidence {
  mark?: string;
  header?: [name: string, value: string];
}

/** Identifies a request whose process is `before` on arrival and `after` at its end: where it is sent, and how it is recorded. */
function identify({ mark, header }: Evidence, before: PeerProcess | null, after: PeerProcess | null) {
  const peer = new Peer(UNKNOWN_OWNER, false, null, { readsMetrics: false, usesProxy: true });
  peer.process = before;
  const tokens = new TokenRegistry(new MemoryTokens(), new MemoryLog());
  const keyring = new Keyring(new MemoryKeys(), new ManualClock(), new MemoryLog());
  const headers = new HeaderIndex(header ?? []);
  const known = { signatures: REQUEST_SIGNATURES, connectable: WRITABLE_TOOL_NAMES };
  const evidence = {
    mark: mark ?? null,
    headers,
    peer,
    ids: null,
    tokenRule: null,
    keyring,
    ...known,
  } as const;
  const client = new ClientIdentity(evidence, tokens);
  const prepared = settings();
  const [destination] = prepared.destinationsFor(client.tool);
  peer.process = after;
  const { tool, by } = client.forRecord(destination, prepared);
  return { sent: `${destination.key.name} ${destination.upstream.name}`, recorded: `${tool} by ${by}` };
}

const CURL: Evidence = { header: ["user-agent", "curl/8.5.0"] };
const CODEX: Evidence = { header: ["originator", "codex_exec"] };

for (const { name, evidence, before, after, sent, recorded } of [
  {
    name: "a process that is known when the request arrives chooses upstream and key",
    evidence: {},
    before: "codex",
    after: "codex",
    sent: "codex default",
    recorded: "codex by process",
  },
  {
    name: "a process that is found later names the tool in the record when that tool has no settings of its own",
    evidence: {},
    before: null,
    after: "opencode",
    sent: "default default",
    recorded: "opencode by process",
  },
  {
    name: "a process that is found later names the tool in the record when that tool's settings equal the defaults",
    evidence: {},
    before: null,
    after: "claude-code",
    sent: "default default",
    recorded: "claude-code by process",
  },
  {
    name: "a process that is found later does not name the tool in the record when that tool has another key",
    evidence: {},
    before: null,
    after: "codex",
    sent: "default default",
    recorded: "unknown by unknown",
  },
  {
    name: "a process that is found later does not name the tool in the record when that tool has another upstream",
    evidence: {},
    before: null,
    after: "aider",
    sent: "default default",
    recorded: "unknown by unknown",
  },
  {
    name: "a process that is found later does not replace the tool for which a key was chosen",
    evidence: CURL,
    before: null,
    after: "claude-code",
    sent: "curl default",
    recorded: "curl by library",
  },
  {
    name: "a tool's signature in the headers outranks a process that is found later",
    evidence: CODEX,
    before: null,
    after: "opencode",
    sent: "codex default",
    recorded: "codex by signature",
  },
  {
    name: "a path mark outranks a process that is known when the request arrives",
    evidence: { mark: "codex" },
    before: "opencode",
    after: "opencode",
    sent: "codex default",
    recorded: "codex by path",
  },
  {
    name: "without a process the request's headers name the tool",
    evidence: CURL,
    before: null,
    after: null,
    sent: "curl default",
    recorded: "curl by library",
  },
] as const) {
  test(name, () => {
    assert.deepEqual(identify(evidence, processOf(before), processOf(after)), { sent, recorded });
  });
}
