import { descriptorLimit } from "../adapters/descriptor-limit.ts";
import { openLedger } from "../adapters/ledger-file.ts";
import { createPeerInfo } from "../adapters/peer.ts";
import type { Config } from "../core/config/config.ts";
import type { Clock, KeyStore, Log, MovableLedger, TokenStore } from "../ports.ts";
import { Gate } from "../proxy/gate.ts";
import { Keyring } from "../proxy/keyring.ts";
import { PeerGuard } from "../proxy/client/peer-guard.ts";
import { prepareSettings } from "../proxy/settings.ts";
import { TokenRegistry } from "../proxy/token-registry.ts";
import { Listeners } from "./listeners.ts";
import { ledgerPlace } from "../adapters/paths.ts";
import type { RecordFeed } from "./record-feed.ts";

/** What a request path is made of from outside. */
export interface RequestPathParts {
  /** With at least a default upstream. */
  config: Config;
  keys: KeyStore;
  tokens: TokenStore;
  clock: Clock;
  log: Log;
  feed: RecordFeed;
  /** Descriptors of sockets that listen for us already. */
  sockets: readonly number[];
}

/** Everything that a request passes on its way, open and listening. */
export interface RequestPath {
  ledger: MovableLedger;
  keyring: Keyring;
  tokens: TokenRegistry;
  gate: Gate;
  listeners: Listeners;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/**
 * Puts the path of a request together and listens, for `serve` and for `check` alike: what is checked is what serves.
 * Throws a Failure when the ledger's directory or the port cannot be had.
 */
export async function openRequestPath(parts: RequestPathParts): Promise<RequestPath> {
  const { config, keys, clock, log, feed, sockets } = parts;
  const ledger = feed.observe(openLedger({ ...ledgerPlace(config), clock, log }));
  const keyring = new Keyring(keys, clock, log);
  const peers = new PeerGuard(createPeerInfo(), process.getuid?.() ?? null, clock, log);
  const tokens = new TokenRegistry(parts.tokens, log);
  const gate = new Gate({
    settings: prepareSettings(config),
    keyring,
    ledger,
    peers,
    tokens,
    clock,
    log,
    descriptorLimit: descriptorLimit(),
  });
  const listeners = await Listeners.open(gate, config.listen.port, sockets);
  return { ledger, keyring, tokens, gate, listeners };
}
