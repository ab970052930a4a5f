import assert from "node:assert/strict";
import { UNKNOWN_OWNER } from "../../../src/adapters/peer/unknown-owner.ts";
import { defaultConfig, type Config } from "../../../src/core/config/config.ts";
import { HeaderIndex } from "../../../src/core/http/header-index.ts";
import { ClientIdentity } from "../../../src/proxy/authenticate-client.ts";
import { Peer } from "../../../src/proxy/client/peer.ts";
import { ExchangeRecorder } from "../../../src/proxy/exchange/exchange-recorder.ts";
import { RecordBatch } from "../../../src/proxy/exchange/record-batch.ts";
import { RunningExchanges } from "../../../src/proxy/exchange/running-exchanges.ts";
import { prepareSettings } from "../../../src/proxy/settings.ts";
import { TokenRegistry } from "../../../src/proxy/token-registry.ts";
import { REQUEST_SIGNATURES, WRITABLE_TOOL_NAMES } from "../../../src/tools/all.ts";
import { upstreamAt } from "../../helpers/gate/gate.ts";
import { MemoryLedger, MemoryLog, MemoryTokens, ManualClock } from "../../helpers/gate/memory.ts";

/** A ledger in memory, and a function that starts exchanges on `POST /messages` whose records go there. */
export function prepareExchanges(ledgerConfig: Partial<Config["ledger"]> = {}) {
  const [ledger, clock] = [new MemoryLedger(), new ManualClock()];
  const upstreams = { default: upstreamAt("http://127.0.0.1:1/v1") };
  const settings = prepareSettings({
    ...defaultConfig,
    upstreams,
    ledger: { ...defaultConfig.ledger, ...ledgerConfig },
  });
  const [{ upstream, key }] = settings.destinations;
  const match = upstream.table.find("POST", "/v1/messages");
  assert.ok(match !== null && "route" in match);
  const choice = { upstream, key, route: match.route, path: "/v1/messages", fallbacks: [] };
  const tokens = new TokenRegistry(new MemoryTokens(), new MemoryLog());
  const evidence = {
    mark: "codex",
    headers: new HeaderIndex([]),
    peer: new Peer(UNKNOWN_OWNER, false, null, { readsMetrics: false, usesProxy: true }),
    tokenRule: null,
    signatures: REQUEST_SIGNATURES,
    connectable: WRITABLE_TOOL_NAMES,
  } as const;
  const running = new RunningExchanges(clock, ledger);
  const batch = new RecordBatch(ledger);
  const start = () => {
    const client = new ClientIdentity(evidence, tokens);
    const head = {
      client,
      choice,
      model: null,
      alias: null,
      hold: null,
      arrival: null,
      settings,
      limits: settings.limits,
      firstAttempt: null,
      userAgent: null,
      traceparent: null,
      contentEncoding: null,
    };
    return new ExchangeRecorder(head, { ledger, batch, running, clock });
  };
  return { start, ledger, batch, clock, running };
}
