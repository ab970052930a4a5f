import assert from "node:assert/strict";
import { explainUnmaintainedNode } from "../../../src/core/node-releases.ts";
import type { CheckedFinding } from "../../../src/check/check.ts";
import type { CommandResult } from "./daemon.ts";

/** Something broken, and the person in front of it, who knows nothing but what `doctor` says. */
export interface BrokenThing {
  /** Runs `doctor --json`. */
  doctor(): Promise<CommandResult>;
  /** Types a line into a shell. */
  type(line: string): Promise<void>;
  /** What only a person can do, by the words with which `doctor` asks for it. */
  acts?: Record<string, () => void | Promise<void>>;
}

/** What `doctor` found first, and everything that was typed until it found nothing more. */
export interface Repair {
  findings: string[];
  typed: string[];
}

/** More than any advice takes. Advice that goes in circles ends here. */
const MAX_ROUNDS = 4;

/** How often a person looks again who has done what was said. The daemon takes seconds to notice some of it. */
const MAX_LOOKS = 12;

/** Does what `doctor` says, one finding after another, until it finds no problems. */
export async function repair(thing: BrokenThing): Promise<Repair> {
  const first = await findingsOf(thing);
  const typed: string[] = [];
  let findings = first;
  for (let round = 0; findings.length > 0; round += 1) {
    const [{ message, fix } = { message: "", fix: "" }] = findings;
    assert.ok(round < MAX_ROUNDS, `not repaired by ${typed.join("; ")}: ${message} -> ${fix}`);
    for (const part of partsOf(fix ?? "")) await follow(part, thing, typed);
    for (let look = 0; look < MAX_LOOKS && findings[0]?.message === message; look += 1) {
      findings = await findingsOf(thing);
    }
  }
  return { findings: first.map(({ message }) => message), typed };
}

/** Returns what is wrong, failures first. */
async function findingsOf({ doctor }: BrokenThing): Promise<CheckedFinding[]> {
  const { stdout, stderr } = await doctor();
  assert.equal(stderr, "");
  const { checks } = JSON.parse(stdout) as { checks: CheckedFinding[] };
  // Nothing on this machine can replace the Node that runs the tests.
  const nodeIsOld = explainUnmaintainedNode(process.versions.node, Date.now());
  const rated = (wanted: string) =>
    checks.filter(({ verdict, message }) => verdict === wanted && message !== nodeIsOld);
  return [...rated("failure"), ...rated("warning")];
}

/** Splits advice into its parts. What stands behind `; or ` is an alternative. */
function partsOf(fix: string): string[] {
  const [before = ""] = fix.split(/[;,] or /);
  return before.split(/[;,] then: /);
}

const COMMAND = /^(?:tollkeeper|systemctl|busctl|sudo|chmod|mv|kill|gnome-keyring-daemon|unset|export) /;

/** Types the command at the end of a part, behind its last colon, or does what a part without a command asks for. */
async function follow(part: string, thing: BrokenThing, typed: string[]): Promise<void> {
  const command = part.split(": ").at(-1) ?? "";
  // Looking again is what comes next anyway.
  if (command === "tollkeeper doctor") return;
  if (COMMAND.test(command)) {
    typed.push(command);
    return thing.type(command);
  }
  const [, act] = Object.entries(thing.acts ?? {}).find(([words]) => part.includes(words)) ?? [];
  assert.ok(act !== undefined, `nothing to type in: ${part}`);
  typed.push(part);
  await act();
}
