import type { Mutant } from "./mutant.ts";

const B5 = { row: "B5", test: "test/security/b5-tls.test.ts" };
const B6 = { row: "B6", test: "test/security/b6-repointed-key.test.ts" };
const B7 = { row: "B7", test: "test/security/b7-hostile-config.test.ts" };

/** Whom the key is given to: B5 to B7. */
export const TRUST: readonly Mutant[] = [
  {
    ...B5,
    without: "verification whatever the environment says",
    file: "src/proxy/upstream/dial.ts",
    find: "rejectUnauthorized: true,",
    replace: "",
  },
  {
    ...B5,
    without: "TLS to a proxy whose address says so",
    file: "src/proxy/upstream/dial.ts",
    find: "dialDirect(proxy.origin)",
    replace: `dialDirect(proxy.origin.replace("https:", "http:"))`,
  },
  {
    ...B5,
    without: "the end of the switch in the environment",
    file: "src/daemon/harden.ts",
    find: "  delete process.env[name];\n",
    replace: "",
  },
  {
    ...B5,
    without: "a warning of the switch",
    file: "src/daemon/harden.ts",
    find: "  return `${name} is ignored: certificates are always verified`;",
    replace: "  return null;",
  },
  {
    ...B5,
    without: "plain http being for loopback alone",
    file: "src/core/config/base-url.ts",
    find: `url.protocol === "http:" && !isLoopback(url.hostname)`,
    replace: `url.protocol === "http:" && !/^(?:localhost|127\\.)/.test(url.hostname)`,
  },
  {
    ...B6,
    without: "the origin in the name of a key in memory",
    file: "src/proxy/keyring.ts",
    find: "return JSON.stringify(ref);",
    replace: "return ref.name;",
  },
  {
    ...B6,
    without: "the origin in the name of a key in the keychain",
    file: "src/core/config/config.ts",
    find: "return { origin: upstream.origin, name:",
    replace: `return { origin: "any", name:`,
  },
  {
    ...B6,
    without: "the one place of the configuration",
    file: "src/adapters/paths.ts",
    find: `return pathsOf(on).join(baseOf("config", on), "tollkeeper", "config.jsonc");`,
    replace: `return "config.jsonc";`,
  },
  {
    ...B7,
    without: "the refusal of keys of the prototype",
    file: "src/core/config/rules.ts",
    find: "    ...findForbiddenKeys(file, []),\n",
    replace: "",
  },
  {
    ...B7,
    without: "properties that are defined, not assigned",
    file: "src/adapters/config-file/jsonc.ts",
    find: "return Object.fromEntries(entries);",
    replace:
      "return [...entries].reduce<Record<string, unknown>>((all, [key, value]) => ((all[key] = value), all), {});",
  },
  {
    ...B7,
    without: "the refusal of unknown keys",
    file: "src/core/config/shape/composites.ts",
    find: "!known.includes(key) && ",
    replace: "false && ",
  },
  {
    ...B7,
    without: "the last good configuration",
    file: "src/adapters/config-file.ts",
    find: "    this.#problems = problems;\n",
    replace:
      "    this.#problems = problems;\n    this.#config = defaultConfig;\n    void this.#apply(defaultConfig);\n",
  },
];
