import type { Mutant } from "./mutant.ts";

const B5 = { row: "B5", test: "test/security/b5-tls.test.ts" };
const B6 = { row: "B6", test: "test/security/b6-repointed-key.test.ts" };
const B6_FALLBACK = { row: "B6", test: "test/proxy/fallback-interrupted.test.ts" };

/** Rules on who receives the key: B5 and B6. */
export const TRUST: readonly Mutant[] = [
  {
    ...B5,
    without: "verifying certificates regardless of the environment",
    file: "src/proxy/upstream/dial.ts",
    find: "rejectUnauthorized: true,\n      session,",
    replace: "session,",
  },
  {
    ...B5,
    without: "using TLS to an https proxy",
    file: "src/proxy/upstream/dial.ts",
    find: "dialDirect(proxy.origin)",
    replace: `dialDirect(proxy.origin.replace("https:", "http:"))`,
  },
  {
    ...B5,
    without: "removing NODE_TLS_REJECT_UNAUTHORIZED",
    file: "src/daemon/harden.ts",
    find: "delete process.env[name];",
    replace: "",
  },
  {
    ...B5,
    without: "warning about NODE_TLS_REJECT_UNAUTHORIZED",
    file: "src/daemon/harden.ts",
    find: "return `${name} is ignored: certificates are always verified`;",
    replace: "return null;",
  },
  {
    ...B5,
    without: "allowing plain http for loopback alone",
    file: "src/core/config/base-url.ts",
    find: `url.protocol === "http:" && !isLoopbackHost(url.hostname)`,
    replace: `url.protocol === "http:" && !/^(?:localhost|127\\.)/.test(url.hostname)`,
  },
  {
    ...B6_FALLBACK,
    without: "a key of its own for each upstream that is asked",
    file: "src/proxy/exchange/attempts.ts",
    find: "await this.#parts.keyring.find(choice.key)",
    replace: "await this.#parts.keyring.find((this.decision.choice as typeof choice).key)",
  },
  {
    ...B6,
    without: "the origin in the identity of a key in memory",
    file: "src/core/secrets/key-source.ts",
    find: "return JSON.stringify([origin, name, source]);",
    replace: "return name;",
  },
  {
    ...B6,
    without: "the origin in the identity of a key in the keychain",
    file: "src/core/policy/configured-keys.ts",
    find: "return { origin, name, source,",
    replace: `return { origin: "any", name, source,`,
  },
  {
    ...B6,
    without: "the fixed path of the configuration",
    file: "src/adapters/paths.ts",
    find: `return pathModuleOf(host).join(baseDirectory("config", host), "tollkeeper", "config.jsonc");`,
    replace: `return "config.jsonc";`,
  },
];
