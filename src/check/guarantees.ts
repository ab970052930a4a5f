import { failure, ok, runCheck } from "./check.ts";
import { Client, type TestRequest } from "./client.ts";
import type { Guarantee, RunningProxy } from "./guarantee.ts";
import { CREDENTIAL_GUARANTEES } from "./guarantees/credentials.ts";
import { RECORD_GUARANTEES } from "./guarantees/records.ts";
import { REFUSAL_GUARANTEES } from "./guarantees/refusals.ts";
import { REQUEST_GUARANTEES } from "./guarantees/requests.ts";
import { RESPONSE_GUARANTEES } from "./guarantees/responses.ts";
import { STREAM_GUARANTEES } from "./guarantees/streams.ts";

/** Everything that tollkeeper guarantees, in the order in which it is shown. */
export const GUARANTEES: readonly Guarantee[] = [
  ...REQUEST_GUARANTEES,
  ...CREDENTIAL_GUARANTEES,
  ...RESPONSE_GUARANTEES,
  ...STREAM_GUARANTEES,
  ...REFUSAL_GUARANTEES,
  ...RECORD_GUARANTEES,
];

/** Result of one guarantee, as `check --json` prints it. */
export interface GuaranteeResult {
  name: string;
  proves: string;
  isOk: boolean;
  /** What was observed instead; null when it passed. */
  fault: string | null;
  /** What the violation means, and what to do about it; null when it passed. */
  remedy: string | null;
}

/**
 * Verifies guarantees one after another, each with a client of its own. `limitMs` is the time limit for each; `added` are headers of
 * every request.
 */
export async function runGuarantees<Proxy extends RunningProxy>(
  guarantees: readonly Guarantee<Proxy>[],
  port: number,
  proxy: Omit<Proxy, "client">,
  limitMs: number,
  added: TestRequest["headers"] = [],
): Promise<GuaranteeResult[]> {
  const results: GuaranteeResult[] = [];
  for (const { name, proves, remedy, verify } of guarantees) {
    const client = new Client(port, added);
    const run = async (subject: Proxy) => {
      await verify(subject);
      return [ok(proves)];
    };
    const findings = await runCheck({ id: name, title: proves, run }, { ...proxy, client } as Proxy, {
      limitMs,
      timeoutMessage: `nothing arrived within ${limitMs} ms`,
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
