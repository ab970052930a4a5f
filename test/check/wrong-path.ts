import type { TestContext } from "node:test";
import type { Installation } from "../../src/check/check.ts";
import { startEcho } from "../../src/check/echo.ts";
import { INSTALLATION_CHECKS } from "../../src/check/list.ts";
import { runChecks, type CheckResult } from "../../src/check/run.ts";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import { defaultConfig } from "../../src/core/config/config.ts";
import { startGate, TEST_KEY, upstreamAt } from "../helpers/gate/gate.ts";
import { startHop, type HopBends } from "./hop.ts";

/** One thing that is wrong with an otherwise right tollkeeper. */
export interface Wrong {
  /** Between the client and the gate. */
  front?: HopBends;
  /** Between the gate and the upstream. */
  back?: HopBends;
  /** What the ledger's reader makes of the records. */
  records?: (records: UsageRecord[]) => UsageRecord[];
}

/** A tollkeeper that is wrong in one thing, and the one check that must notice. */
export interface WrongCase extends Wrong {
  title: string;
  fails: string;
  /** The check notices by waiting for what never comes. */
  hangs?: true;
  fault: RegExp;
}

/** Far more than any check takes. */
const LIMIT_MS = 10_000;
/** For a check that must fail by waiting for what never comes. */
const HANGING_LIMIT_MS = 300;

export const LISTED_HOST = "host.docker.internal:8655";
const CODEX_KEY = "sentinel-key-of-codex";

/** The names of the checks that a wrong tollkeeper fails; those in `hanging` wait in vain, and so are given less time. */
export async function failuresOf(
  t: TestContext,
  wrong: Wrong,
  hanging: readonly string[],
): Promise<CheckResult[]> {
  const { port, ...on } = await startWrongPath(t, wrong);
  const isHanging = ({ name }: { name: string }) => hanging.includes(name);
  const short = INSTALLATION_CHECKS.filter(isHanging);
  const others = INSTALLATION_CHECKS.filter((check) => !isHanging(check));
  const results = [
    ...(await runChecks<Installation>(others, port, on, LIMIT_MS)),
    ...(await runChecks<Installation>(short, port, on, HANGING_LIMIT_MS)),
  ];
  return results.filter(({ isOk }) => !isOk);
}

/** client → front hop → gate → back hop → echo. Small limits, because it runs once for each thing that can be wrong. */
async function startWrongPath(t: TestContext, { front = {}, back = {}, records }: Wrong) {
  const echo = await startEcho();
  t.after(() => echo.close());
  const backPort = await startHop(t, () => echo.port, back);
  const origin = `http://127.0.0.1:${backPort}`;
  const other = upstreamAt(`${origin}/other/v1`, { name: "other" });
  const gate = await startGate(t, `${origin}/v1`, {
    config: {
      listen: { ...defaultConfig.listen, allowedHosts: [LISTED_HOST] },
      limits: { ...defaultConfig.limits, bodyBytes: 65_536 },
      abort: { graceMs: 1 },
      upstreams: { default: upstreamAt(`${origin}/v1`), other },
      tools: { codex: { upstream: "other", key: "codex" } },
    },
  });
  gate.keys.set({ name: "codex", origin }, CODEX_KEY);
  let port = 0;
  const toGate = (text: string) =>
    text.replace(`host: 127.0.0.1:${port}\r\n`, `host: 127.0.0.1:${gate.port}\r\n`);
  const up: HopBends["up"] = (text, ends) => {
    const bent = front.up === undefined ? text : front.up(text, ends);
    return bent === null ? null : toGate(bent);
  };
  port = await startHop(t, () => gate.port, { ...front, up });
  const recorded = gate.ledger.records;
  return {
    port,
    echo,
    config: gate.gate.settings.config,
    keyNamed: (name: string) => (name === "codex" ? CODEX_KEY : TEST_KEY),
    records: () => Promise.resolve(records?.(recorded) ?? [...recorded]),
  };
}
