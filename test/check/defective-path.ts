import { toolSettings } from "../helpers/config/tool-settings.ts";
import type { TestContext } from "node:test";
import type { IsolatedProxy } from "../../src/check/guarantee.ts";
import { startRecordingUpstream } from "../../src/check/recording-upstream.ts";
import { GUARANTEES, runGuarantees, type GuaranteeResult } from "../../src/check/guarantees.ts";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { defaultConfig } from "../../src/core/config/config.ts";
import { startGate, TEST_KEY, upstreamAt } from "../helpers/gate/gate.ts";
import { createToken } from "../helpers/tools/create-token.ts";
import { startRelay, type RelayTampering } from "./tampering-relay.ts";

/** One defect of an otherwise correct tollkeeper. */
export interface Defect {
  /** Between the client and the gate. */
  front?: RelayTampering;
  /** Between the gate and the upstream. */
  back?: RelayTampering;
  /** Changes the records of the ledger. */
  records?: (records: UsageRecord[]) => UsageRecord[];
}

/** A defect, and the one guarantee whose check must detect it. */
export interface DefectCase extends Defect {
  title: string;
  /** Name of the guarantee. */
  violates: string;
  /** The check detects it by its time limit. */
  timesOut?: true;
  fault: RegExp;
}

/** Far more than any check takes. */
const LIMIT_MS = 10_000;
/** For checks that must exceed their limit. */
const SHORT_LIMIT_MS = 300;

export const LISTED_HOST = "host.docker.internal:8655";
/** As of a forwarded port. It needs no token. */
export const LISTED_PORT = "localhost:1";
const CODEX_KEY = "sentinel-key-of-codex";

/**
 * Returns the results of the checks that a defective tollkeeper fails.
 * @param timingOut names of the guarantees whose checks exceed their limit, which is short for them
 */
export async function findViolations(
  t: TestContext,
  defect: Defect,
  timingOut: readonly string[],
): Promise<GuaranteeResult[]> {
  const { port, ...proxy } = await startDefectivePath(t, defect);
  const timesOut = ({ name }: { name: string }) => timingOut.includes(name);
  const short = GUARANTEES.filter(timesOut);
  const others = GUARANTEES.filter((guarantee) => !timesOut(guarantee));
  const results = [
    ...(await runGuarantees<IsolatedProxy>(others, port, proxy, LIMIT_MS)),
    ...(await runGuarantees<IsolatedProxy>(short, port, proxy, SHORT_LIMIT_MS)),
  ];
  return results.filter(({ isOk }) => !isOk);
}

/** Starts client → front relay → gate → back relay → upstream. Its limits are small, because it runs once for each defect. */
async function startDefectivePath(t: TestContext, { front = {}, back = {}, records }: Defect) {
  const upstream = await startRecordingUpstream();
  t.after(() => upstream.close());
  const backPort = await startRelay(t, () => upstream.port, back);
  const origin = `http://127.0.0.1:${backPort}`;
  const other = upstreamAt(`${origin}/other/v1`, { name: "other" });
  const gate = await startGate(t, `${origin}/v1`, {
    config: {
      listen: { ...defaultConfig.listen, allowedHosts: [LISTED_HOST, LISTED_PORT] },
      limits: { ...defaultConfig.limits, bodyBytes: 65_536 },
      abort: { graceMs: 1 },
      upstreams: { default: upstreamAt(`${origin}/v1`), other },
      tools: { codex: toolSettings({ upstreams: ["other"], key: "codex" }) },
    },
  });
  gate.keys.set({ name: "codex", origin }, CODEX_KEY);
  const { token, hash } = createToken("zed");
  gate.tokenGuard.lease("zed", hash);
  let port = 0;
  const toGate = (text: string) =>
    text.replace(`host: 127.0.0.1:${port}\r\n`, `host: 127.0.0.1:${gate.port}\r\n`);
  const up: RelayTampering["up"] = (text, sockets) => {
    const changed = front.up === undefined ? text : front.up(text, sockets);
    return changed === null ? null : toGate(changed);
  };
  port = await startRelay(t, () => gate.port, { ...front, up });
  const recorded = gate.ledger.records;
  return {
    port,
    upstream,
    config: gate.gate.settings.config,
    token,
    accessKeys: { accessKeyId: "", secretAccessKey: "", sessionToken: null },
    keyNamed: (name: string) => (name === "codex" ? CODEX_KEY : TEST_KEY),
    records: () => Promise.resolve(records?.(recorded) ?? [...recorded]),
  };
}
