import type { Outbound } from "../../../core/config/outbound.ts";
import { attempt } from "../../attempt.ts";
import { fetchModels, KeyCheckFailure, type KeyCheck } from "../../keys/fetch-models.ts";
import type { KeyReading } from "./read-keys.ts";

/** How an upstream responded to a key. Exactly one of `response` and `failure` is set. */
export interface UpstreamProbe {
  key: KeyReading;
  response: KeyCheck | null;
  failure: KeyCheckFailure | null;
}

/** Each request may take up to ten seconds. */
const CONCURRENCY = 4;

/** Requests the models of each upstream whose key could be read. The results are in the order of the keys. */
export async function probeUpstreams(
  keys: readonly KeyReading[],
  outbound: Outbound,
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

async function probeUpstream(key: KeyReading, outbound: Outbound): Promise<UpstreamProbe | null> {
  const { upstream, secret } = key;
  if (secret === null) return null;
  const { value, failure } = await attempt(KeyCheckFailure, () => fetchModels(upstream, secret, outbound));
  return { key, response: value, failure };
}
