import type { Config } from "../core/config/config.ts";
import type { UsageRecord } from "../core/ledger/record.ts";
import type { Client } from "./client.ts";
import type { Echo } from "./echo.ts";

/** A tollkeeper that can be asked: all that the checks of its refusals need. */
export interface Subject {
  client: Client;
}

/** A tollkeeper whose only upstream is an echo of ours, so that both ends of every request can be looked at. */
export interface Installation extends Subject {
  echo: Echo;
  /** The configuration under check. Every upstream's base URL leads to the echo, each to a path of its own. */
  config: Config;
  /** The made-up value that stands for the key of this name. */
  keyNamed(name: string): string;
  /** Every record of the ledger, oldest first. */
  records(): Promise<UsageRecord[]>;
}

/** One promise of tollkeeper's, held against a running one from outside. */
export interface Check<On extends Subject = Installation> {
  name: string;
  /** What is known when it passes. */
  proves: string;
  /** What it means when it fails, and what to do then; one line. */
  remedy: string;
  /** Resolves when the promise holds. Throws a {@link Fault}, or what the network threw. */
  run(on: On): Promise<void>;
}

/** What a check saw in place of what it should have seen: lower case, no full stop. */
export class Fault extends Error {}

/** @throws Fault with `fault` unless `holds` */
export function expect(holds: boolean, fault: string): void {
  if (!holds) throw new Fault(fault);
}

/** @throws Fault which says where the bytes begin to differ */
export function expectSameBytes(what: string, sent: Buffer, received: Buffer): void {
  if (sent.equals(received)) return;
  const end = Math.min(sent.length, received.length);
  let at = 0;
  while (at < end && sent[at] === received[at]) at += 1;
  throw new Fault(
    `${what}: differs from byte ${at} on (${sent.length} bytes sent, ${received.length} received)`,
  );
}

/** The whole remedy where a tool would be misled, and nothing leaks. */
export const REPORT = "report it with the output of: tollkeeper check --json";

/** The remedy where the key or the machine's owner is at risk. */
export const STOP = `stop the daemon until it is mended, and ${REPORT}`;
