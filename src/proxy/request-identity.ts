import type { KeyRef } from "../core/secrets/key-source.ts";
import { withProcess, type ToolIdentity } from "../core/identity/tool-identity.ts";
import type { PeerProcess } from "../ports.ts";
import type { Settings, UpstreamSettings } from "./settings.ts";

/** The client's end of a connection that was let in. */
export interface Peer {
  /** null until it is found, and for good where it is not. */
  process: PeerProcess | null;
  /** The directory that the process works on; null until it is known, for good where it cannot be, or was not asked for. */
  project: string | null;
}

/**
 * Who makes a request. Upstream and key are chosen by what is known when it comes, which on a fresh connection is not yet
 * the process: nothing waits for that. The record is written later, and takes what is known by then; but where the
 * configuration sends the tool that the process turns out to be another way, the record keeps the name that the request
 * was sent by, so that a tool is never said to have used what is another's.
 */
export class RequestIdentity {
  readonly upstream: UpstreamSettings;
  readonly key: KeyRef;
  readonly peer: Peer;
  readonly #sentAs: ToolIdentity;
  readonly #settings: Settings;

  /** `identity`: by the evidence that the request itself bears. */
  constructor(identity: ToolIdentity, peer: Peer, settings: Settings) {
    this.#sentAs = withProcess(identity, peer.process?.name ?? null);
    this.peer = peer;
    this.#settings = settings;
    this.upstream = settings.upstreamFor(this.#sentAs.tool);
    this.key = settings.keyFor(this.#sentAs.tool);
  }

  /** As far as it is known by now. */
  get identity(): ToolIdentity {
    const identity = withProcess(this.#sentAs, this.peer.process?.name ?? null);
    if (identity === this.#sentAs) return identity;
    const { upstreamFor, keyFor } = this.#settings;
    const isSameWay =
      upstreamFor(identity.tool) === this.upstream && keyFor(identity.tool).name === this.key.name;
    return isSameWay ? identity : this.#sentAs;
  }
}
