import { NO_SIZE } from "../../../src/core/budget/budget-request.ts";
import assert from "node:assert/strict";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { crc32 } from "node:zlib";
import { UNKNOWN_OWNER } from "../../../src/adapters/peer/unknown-owner.ts";
import { defaultConfig, type Config } from "../../../src/core/config/config.ts";
import { HeaderIndex } from "../../../src/core/http/header-index.ts";
import { ClientIdentity } from "../../../src/proxy/client/identity.ts";
import { Peer } from "../../../src/proxy/client/peer.ts";
import { Exchange } from "../../../src/proxy/exchange/exchange.ts";
import { Conversations } from "../../../src/core/misses/conversations.ts";
import { RecordBatch } from "../../../src/proxy/exchange/record-batch.ts";
import { PlanAccounts } from "../../../src/proxy/plan-accounts.ts";
import { RunningExchanges } from "../../../src/proxy/exchange/running-exchanges.ts";
import { Keyring } from "../../../src/proxy/keyring.ts";
import { prepareSettings } from "../../../src/core/decide/settings.ts";
import { TokenRegistry } from "../../../src/proxy/client/token-registry.ts";
import { REQUEST_SIGNATURES, WRITABLE_TOOL_NAMES } from "../../../src/tools/all.ts";
import { createReading } from "../../../src/core/usage/usage-format.ts";
import { upstreamAt } from "../../helpers/gate/gate.ts";
import { MemoryKeys, MemoryLedger, MemoryLog, MemoryTokens, ManualClock } from "../../helpers/gate/memory.ts";

/** A ledger in memory, and a function that starts exchanges on `POST /messages` whose records go there. */
export function prepareExchanges(ledgerConfig: Partial<Config["ledger"]> = {}) {
  const [ledger, clock] = [new MemoryLedger(), new ManualClock()];
  const upstreams = { default: upstreamAt("http://127.0.0.1:1/v1") };
  const settings = prepareSettings({
    ...defaultConfig,
    upstreams,
    ledger: { ...defaultConfig.ledger, ...ledgerConfig },
  });
  const [destination] = settings.destinations;
  assert.equal(destination.account, "key");
  const { account, upstream, key } = destination;
  const match = upstream.table.find("POST", "/v1/messages");
  assert.ok(match !== null && "route" in match);
  const choice = {
    account,
    upstream,
    key,
    route: match.route,
    path: "/v1/messages",
    fallbacks: [],
    plan: null,
    batch: null,
  };
  const keyring = new Keyring(new MemoryKeys(), clock, new MemoryLog());
  const tokens = new TokenRegistry(new MemoryTokens(), new MemoryLog());
  const evidence = {
    mark: "codex",
    headers: new HeaderIndex([]),
    peer: new Peer(UNKNOWN_OWNER, false, null, { readsMetrics: false, usesProxy: true }),
    ids: null,
    tokenRule: null,
    keyring,
    signatures: REQUEST_SIGNATURES,
    connectable: WRITABLE_TOOL_NAMES,
  } as const;
  const running = new RunningExchanges(clock, ledger);
  const batch = new RecordBatch(ledger);
  const accounts = new PlanAccounts(() => Buffer.alloc(32, 7));
  const conversations = new Conversations({ key: 1, checksum: crc32 });
  const start = () => {
    const client = new ClientIdentity(evidence, tokens);
    const req = new IncomingMessage(new Socket());
    const res = new ServerResponse(req);
    const { headers } = evidence;
    const request = {
      kind: "api",
      mark: "codex",
      method: "POST",
      path: "/v1/messages",
      query: "",
      match,
      plan: null,
      ownKey: null,
      speaksMessages: true,
      speaksGoogle: false,
      isForm: false,
    } as const;
    const received = { req, res, request, headers, client, settings, expectsContinue: false, arrival: null };
    const size = { ...NO_SIZE, output: 0, cachesLong: false };
    const chosen = {
      choice,
      policy: null,
      model: null,
      alias: null,
      isBound: false,
      size,
      fingerprint: null,
    };
    return new Exchange(
      received,
      chosen,
      { choice, hold: null, after: null },
      {
        ledger,
        batch,
        running,
        accounts,
        captures: { isOn: false, open: () => null },
        conversations,
        clock,
      },
    );
  };
  return { start, ledger, batch, clock, running };
}

/** Records that a response has ended that says nothing of usage. */
export function recordCompleted(exchange: Exchange, onRecorded: () => void = () => {}): void {
  const reading = { ...createReading("completed", "absent"), spend: "never" } as const;
  exchange.recordResponse({ reading, bytesOut: 0 }, "upstream", onRecorded);
}
