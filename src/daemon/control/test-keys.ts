import { listTrustVariables, type TrustVariable } from "../../core/config/trust-variables.ts";
import { Failure, KeyFailure, messageOf } from "../../core/failure.ts";
import { listConfiguredKeys, resolveKeyRef, type ConfiguredKey } from "../../core/policy/configured-keys.ts";
import type { ConfigSource } from "../../ports.ts";
import type { Gate } from "../../proxy/gate.ts";
import type { Keyring } from "../../proxy/keyring.ts";
import { fetchModels, KeyCheckFailure, type KeyCheck } from "../../proxy/upstream/fetch-models.ts";

/** How an upstream responded to a key that the daemon sent. Exactly one of `check` and `failure` is set. Never has the key. */
interface KeyTest {
  upstream: string;
  key: string;
  /** Its date arrives as text. */
  check: KeyCheck | null;
  failure: KeyTestFailure | null;
}

/** Why it was not accepted, in words for the owner of the key. */
export interface KeyTestFailure extends Pick<KeyCheckFailure, "message" | "likelyBaseUrl" | "isUntrusted"> {
  /** `no_key`: the daemon could not read it. */
  code: KeyCheckFailure["code"] | "no_key";
  hint: string | null;
}

/** What the daemon found out. */
export interface KeyTests {
  /** The configuration that it runs with, absolute. */
  configFile: string;
  /** Which authorities it trusts besides Node's own and those of the configuration. */
  trust: TrustVariable[];
  /** In the order of the configuration. */
  tests: KeyTest[];
}

/** Each test may take up to ten seconds. */
const CONCURRENCY = 4;

interface Parts {
  gate: Pick<Gate, "settings">;
  source: Pick<ConfigSource, "status">;
  keyring: Keyring;
}

/**
 * Tests the keys that are stored now, which requests use from then on, by the daemon's own network settings, certificate authorities and
 * environment. The question names keys and has none.
 * @param query the file that the question is about in `config`; `upstream` and `key` for one key, else all that are configured
 */
export async function testKeys(query: URLSearchParams, { gate, source, keyring }: Parts): Promise<KeyTests> {
  const { config } = gate.settings;
  const configFile = source.status().path;
  const trust = listTrustVariables(process.env, process.execArgv);
  if (query.get("config") !== configFile) return { configFile, trust, tests: [] };
  const tests: KeyTest[] = [];
  const pending = chosenKeys(query, config).entries();
  const work = async () => {
    for (const [i, { upstream, ref }] of pending) {
      const names = { upstream: upstream.name, key: ref.name };
      try {
        const check = await fetchModels(upstream, await keyring.reread(ref), config.outbound, ref);
        tests[i] = { ...names, check, failure: null };
      } catch (error) {
        tests[i] = { ...names, check: null, failure: describe(error) };
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return { configFile, trust, tests };
}

function chosenKeys(
  query: URLSearchParams,
  config: Parameters<typeof listConfiguredKeys>[0],
): Pick<ConfiguredKey, "upstream" | "ref">[] {
  const name = query.get("upstream");
  if (name === null) return listConfiguredKeys(config);
  const upstream = Object.hasOwn(config.upstreams, name) ? config.upstreams[name] : undefined;
  return upstream === undefined || upstream.credential === "client"
    ? []
    : [{ upstream, ref: resolveKeyRef(upstream, query.get("key")) }];
}

function describe(error: unknown): KeyTestFailure {
  const hint = error instanceof Failure ? (error.hint ?? null) : null;
  if (error instanceof KeyCheckFailure) {
    const { code, message, likelyBaseUrl, isUntrusted } = error;
    return { code, message, hint, likelyBaseUrl, isUntrusted };
  }
  const message = error instanceof KeyFailure ? error.messageForOwner : messageOf(error);
  return { code: "no_key", message, hint, likelyBaseUrl: null, isUntrusted: false };
}
