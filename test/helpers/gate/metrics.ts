import type { TestContext } from "node:test";
import type { MetricsSource } from "../../../src/local/metrics.ts";
import { respondWithMessage } from "../upstream/scripted-upstream.ts";
import { startGateWithUpstream } from "./gate-with-upstream.ts";
import { peersOf } from "./memory.ts";

export const METRICS = "/_tollkeeper/metrics";
const OWN = process.getuid?.() ?? 0;

/** Starts a gate with metrics, for a client whom the system names so; ours by default. `readers` are `export.metrics.peerUid`. */
export async function startMetrics(
  t: TestContext,
  given: Partial<MetricsSource> & { uid?: number | null; peerUid?: number[]; readers?: number[] } = {},
) {
  const { uid = OWN, peerUid = [], readers = [], ...changes } = given;
  const { upstream, gate } = await startGateWithUpstream(t, respondWithMessage, {
    peers: peersOf(uid),
    metrics: {
      isOn: true,
      needsToken: false,
      write: (format) => Promise.resolve(Buffer.from(`# in ${format}\n`)),
      ...changes,
    },
    config: {
      access: { mode: "open", peerUid },
      export: { metrics: { peerUid: readers }, otlp: null },
    },
  });
  const ask = async (path = METRICS, init: RequestInit = {}) => {
    const response = await fetch(gate.url + path, init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { upstream, gate, ask };
}
