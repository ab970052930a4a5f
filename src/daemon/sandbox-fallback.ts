import { randomBytes } from "node:crypto";
import { plainUpstream, type Config } from "../core/config/config.ts";
import { SANDBOX_UPSTREAM } from "../core/ledger/record.ts";
import { Secret } from "../core/secrets/secret.ts";
import type { KeyStore } from "../ports.ts";
import type { Sandbox } from "../sandbox/server.ts";

const KEY_NAME = "sandbox";

/**
 * The built-in upstream of a daemon that has none configured. Its key is made up at each start and known to this
 * process alone.
 */
export class SandboxFallback {
  readonly #key = `sandbox-${randomBytes(24).toString("hex")}`;
  #sandbox: Sandbox | null = null;

  /** The configuration itself, or, when it has no upstream, with the sandbox for one. */
  async complete(config: Config): Promise<Config> {
    if (Object.keys(config.upstreams).length > 0) return config;
    this.#sandbox ??= await this.#start();
    const upstream = plainUpstream(SANDBOX_UPSTREAM, this.#sandbox.baseUrl);
    return { ...config, tools: {}, upstreams: { default: { ...upstream, key: KEY_NAME } } };
  }

  /** A key store that knows the sandbox's key and leaves all others to `store`. */
  keysBefore(store: KeyStore): KeyStore {
    return {
      read: (ref) => (this.isAt(ref.origin) ? Promise.resolve(new Secret(this.#key)) : store.read(ref)),
    };
  }

  /** Is this the sandbox's origin? */
  isAt(origin: string): boolean {
    return this.#sandbox !== null && new URL(this.#sandbox.baseUrl).origin === origin;
  }

  async close(): Promise<void> {
    await this.#sandbox?.close();
  }

  /** Loads it, too: 29 modules, 11 ms and 1 MB that a daemon with an upstream never needs. */
  async #start(): Promise<Sandbox> {
    const { startSandbox } = await import("../sandbox/server.ts");
    return startSandbox({ keys: [{ name: KEY_NAME, secret: this.#key, group: "all" }] });
  }
}
