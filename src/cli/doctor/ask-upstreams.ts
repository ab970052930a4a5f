import type { Outbound } from "../../core/config/outbound.ts";
import { askForModels, KeyCheckFailure, type ModelsAnswer } from "../keys/ask-for-models.ts";
import type { KeyReading } from "./read-keys.ts";

/** What an upstream said to a key: one of the two is there. */
export interface UpstreamAnswer {
  key: KeyReading;
  answer: ModelsAnswer | null;
  failure: KeyCheckFailure | null;
}

/** As many are asked at once; each may take up to ten seconds. */
const AT_ONCE = 4;

/** Asks the upstream of each key that was found for its models with it; the answers stand in the order of the keys. */
export async function askUpstreams(
  keys: readonly KeyReading[],
  outbound: Outbound,
): Promise<UpstreamAnswer[]> {
  const answers: UpstreamAnswer[] = [];
  const open = keys.entries();
  const work = async () => {
    for (const [i, key] of open) {
      const answer = await askUpstream(key, outbound);
      if (answer !== null) answers[i] = answer;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return answers.filter((answer) => answer !== undefined);
}

async function askUpstream(key: KeyReading, outbound: Outbound): Promise<UpstreamAnswer | null> {
  if (key.secret === null) return null;
  try {
    return { key, answer: await askForModels(key.upstream, key.secret, outbound), failure: null };
  } catch (error) {
    if (!(error instanceof KeyCheckFailure)) throw error;
    return { key, answer: null, failure: error };
  }
}
