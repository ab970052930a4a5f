import type { Config } from "../../../core/config/config.ts";
import type { TrustVariable } from "../../../core/config/trust-variables.ts";
import { attempt } from "../../attempt.ts";
import { KeyCheckFailure, type KeyCheck } from "../../../proxy/upstream/fetch-models.ts";
import { testAsService, testByDaemon, toFailure } from "../../keys/test-as-daemon.ts";
import type { KeyReading } from "./read-keys.ts";

/** How an upstream responded to a key. Exactly one of `response` and `failure` is set. */
export interface UpstreamProbe {
  key: KeyReading;
  response: KeyCheck | null;
  failure: KeyCheckFailure | null;
}

/** Each request may take up to ten seconds. */
const CONCURRENCY = 4;

/** What came of asking every upstream. */
export interface UpstreamProbes {
  probes: UpstreamProbe[];
  /** What the daemon that asked them trusts because of its environment; null when this command asked them itself. */
  trust: readonly TrustVariable[] | null;
}

/**
 * Has the running daemon request the models of each upstream, or, where none runs with this configuration, requests those of each upstream
 * whose key could be read. The results are in the order of the keys.
 */
export async function probeUpstreams(
  keys: readonly KeyReading[],
  { outbound }: Config,
  configFile: string,
): Promise<UpstreamProbes> {
  const asked = await testByDaemon(configFile);
  if (asked === null) return { probes: await probeHere(keys, outbound), trust: null };
  const probes = keys.flatMap((key): UpstreamProbe[] => {
    const test = asked.tests.find(
      ({ upstream, key: name }) => upstream === key.upstream.name && name === key.ref.name,
    );
    if (test === undefined) return [];
    if (test.failure === null) return [{ key, response: test.check, failure: null }];
    const failure = toFailure(test.failure, asked.trust, outbound);
    return failure instanceof KeyCheckFailure ? [{ key, response: null, failure }] : [];
  });
  return { probes, trust: asked.trust };
}

async function probeHere(
  keys: readonly KeyReading[],
  outbound: Config["outbound"],
): Promise<UpstreamProbe[]> {
  const probes: UpstreamProbe[] = [];
  const pending = keys.entries();
  const work = async () => {
    for (const [i, key] of pending) {
      const probe = await probeUpstream(key, outbound);
      if (probe !== null) probes[i] = probe;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return probes.filter((probe) => probe !== undefined);
}

async function probeUpstream(key: KeyReading, outbound: Config["outbound"]): Promise<UpstreamProbe | null> {
  const { secret } = key;
  if (secret === null) return null;
  const { value, failure } = await attempt(KeyCheckFailure, () => testAsService(key, secret, outbound));
  return { key, response: value, failure };
}
