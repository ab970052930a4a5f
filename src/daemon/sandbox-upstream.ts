import { randomBytes } from "node:crypto";
import { createUpstream, type Config } from "../core/config/config.ts";
import { SHARED_APIS } from "../core/http/api.ts";
import { SANDBOX_UPSTREAM } from "../core/config/names.ts";
import { Secret } from "../core/secrets/secret.ts";
import type { KeyStore } from "../ports.ts";
import type { Sandbox } from "../sandbox/server.ts";

const KEY_NAME = "sandbox";

/** What is served without being named, and the APIs of Google and Amazon Bedrock. */
const SANDBOX_APIS: Config["upstreams"][string]["apis"] = [
  ...SHARED_APIS,
  "gemini",
  "bedrock",
  "audio",
  "files",
];

/** Keeps the groups of tools, so that they can be tried. Their keys are not for the sandbox. */
function withoutOwnKeys(config: Config): Config {
  const tools = Object.entries(config.tools).map(([name, tool]) => [name, { ...tool, key: null }]);
  const groups = Object.entries(config.groups).map(([name, group]) => [name, { ...group, key: null }]);
  return { ...config, tools: Object.fromEntries(tools), groups: Object.fromEntries(groups) };
}

/** The built-in sandbox, for a daemon without a configured upstream. Its key is random at each start and known to this process only. */
export class SandboxUpstream {
  readonly #key = `sandbox-${randomBytes(24).toString("hex")}`;
  #sandbox: Sandbox | null = null;

  /** Returns the configuration, with the sandbox as its upstream if it has none. */
  async complete(config: Config): Promise<Config> {
    if (Object.keys(config.upstreams).length > 0) return config;
    this.#sandbox ??= await this.#start();
    const upstream = createUpstream(SANDBOX_UPSTREAM, this.#sandbox.baseUrl);
    return {
      ...withoutOwnKeys(config),
      upstreams: { default: { ...upstream, key: KEY_NAME, apis: SANDBOX_APIS, websocket: "auto" } },
    };
  }

  /** Returns a key store that has the sandbox's key and reads all others from `store`. */
  keysBefore(store: KeyStore): KeyStore {
    return {
      read: (ref) => (this.isAt(ref.origin) ? Promise.resolve(new Secret(this.#key)) : store.read(ref)),
    };
  }

  /** True for the sandbox's origin. */
  isAt(origin: string): boolean {
    return this.#sandbox !== null && new URL(this.#sandbox.baseUrl).origin === origin;
  }

  async close(): Promise<void> {
    await this.#sandbox?.close();
  }

  /** Loads the sandbox when it is needed: it takes 11 ms and 1 MB. */
  async #start(): Promise<Sandbox> {
    const { startSandbox } = await import("../sandbox/server.ts");
    return startSandbox({ keys: [{ name: KEY_NAME, secret: this.#key, group: "all" }] });
  }
}
