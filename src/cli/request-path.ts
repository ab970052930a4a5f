import { descriptorLimit } from "../adapters/descriptor-limit.ts";
import { openLedger } from "../adapters/ledger-file.ts";
import { createPeerInfo } from "../adapters/peer.ts";
import type { Config } from "../core/config.ts";
import type { Clock, KeyStore, Log, MovableLedger } from "../ports.ts";
import { Gate } from "../proxy/gate.ts";
import { Keyring } from "../proxy/keyring.ts";
import type { Listener } from "../proxy/listener.ts";
import { PeerGuard } from "../proxy/peer-guard.ts";
import { prepareSettings } from "../proxy/settings.ts";
import { listenOn } from "./lifecycle.ts";
import { ledgerPlace } from "./paths.ts";

/** What a request path is made of from outside. */
export interface RequestPathParts {
  /** With at least a default upstream. */
  config: Config;
  keys: KeyStore;
  clock: Clock;
  log: Log;
}

/** Everything that a request passes on its way, open and listening. */
export interface RequestPath {
  ledger: MovableLedger;
  keyring: Keyring;
  gate: Gate;
  listener: Listener;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/**
 * Puts the path of a request together and listens, for `serve` and for `check` alike: what is checked is what serves.
 * Throws a Failure when the ledger's directory or the port cannot be had.
 */
export async function openRequestPath({ config, keys, clock, log }: RequestPathParts): Promise<RequestPath> {
  const ledger = openLedger({ ...ledgerPlace(config), clock, log });
  const keyring = new Keyring(keys, clock, log);
  const peers = new PeerGuard(createPeerInfo(), process.getuid?.() ?? null, clock, log);
  const gate = new Gate({
    settings: prepareSettings(config),
    keyring,
    ledger,
    peers,
    clock,
    log,
    descriptorLimit: descriptorLimit(),
  });
  const listener = await listenOn(config.listen.port, gate);
  return { ledger, keyring, gate, listener };
}
