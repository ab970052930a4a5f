import { failure, ok } from "./check.ts";
import { Client } from "./client.ts";
import type { Guarantee, RunningProxy } from "./guarantee.ts";
import { runCheck } from "./run-check.ts";

/** Result of one guarantee, as `check --json` prints it. */
export interface GuaranteeResult {
  name: string;
  proves: string;
  isOk: boolean;
  /** What was seen instead; null when it passed. */
  fault: string | null;
  /** What the violation means, and what to do about it; null when it passed. */
  remedy: string | null;
}

/** Verifies guarantees one after another, each with a client of its own. `limitMs` is the time limit for each. */
export async function runGuarantees<Proxy extends RunningProxy>(
  guarantees: readonly Guarantee<Proxy>[],
  port: number,
  proxy: Omit<Proxy, "client">,
  limitMs: number,
): Promise<GuaranteeResult[]> {
  const results: GuaranteeResult[] = [];
  for (const { name, proves, remedy, verify } of guarantees) {
    const client = new Client(port);
    const run = async (subject: Proxy) => {
      await verify(subject);
      return [ok(proves)];
    };
    const findings = await runCheck({ id: name, title: proves, run }, { ...proxy, client } as Proxy, {
      limitMs,
      timeoutMessage: `nothing came for ${limitMs} ms`,
      findingOf: (fault) => failure(fault, remedy),
    });
    client.close();
    for (const { verdict, message, fix } of findings) {
      const isOk = verdict === "ok";
      results.push({ name, proves, isOk, fault: isOk ? null : message, remedy: fix });
    }
  }
  return results;
}
