import { type Check, Fault, type Subject } from "./check.ts";
import { Client } from "./client.ts";
import { messageOf } from "../core/thrown.ts";

/** How one check went. */
export interface CheckResult {
  name: string;
  proves: string;
  isOk: boolean;
  /** What was seen instead; null when it passed. */
  fault: string | null;
  /** What the failure means, and what to do; null when it passed. */
  remedy: string | null;
}

/**
 * Runs checks one after another, each with connections of its own.
 * @param on everything that they need, but for the client
 * @param limitMs for each check: what waits for something that never comes has failed by then
 */
export async function runChecks<On extends Subject>(
  checks: readonly Check<On>[],
  port: number,
  on: Omit<On, "client">,
  limitMs: number,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of checks) {
    const client = new Client(port);
    const fault = await faultOf(check.run({ ...on, client } as On), limitMs);
    client.close();
    const { name, proves, remedy } = check;
    results.push({ name, proves, isOk: fault === null, fault, remedy: fault === null ? null : remedy });
  }
  return results;
}

/** null: none. Whatever a check throws is its finding, the network's errors too. */
async function faultOf(run: Promise<void>, limitMs: number): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Fault(`nothing came for ${limitMs} ms`)), limitMs);
  });
  try {
    await Promise.race([run, late]);
    return null;
  } catch (error) {
    return messageOf(error);
  } finally {
    clearTimeout(timer);
  }
}
