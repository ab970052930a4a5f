import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Prints a token that says when it was issued, in hundredths of a second since the machine started. Three times in thirty it hangs, ten
 * times it fails. It notes what it did in the file `calls` beside it.
 */
export const SCRIPT = `cd "$(dirname "$0")"
read -r up rest < /proc/uptime
at=$(printf %s "$up" | tr -d .)
n=$(( $(od -An -N2 -tu2 /dev/urandom) % 30 ))
if [ $n -lt 3 ]; then echo "hung $at" >> calls; exec sleep 60; fi
if [ $n -lt 13 ]; then
  echo "failed $at" >> calls
  echo "no login: sentinel-token-$at" >&2
  echo "sentinel-token-$at"
  exit 1
fi
echo "token $at" >> calls
echo "sentinel-token-$at"
`;

/** One run of the command. */
export interface Call {
  outcome: "token" | "failed" | "hung";
  /** Milliseconds since the machine started. */
  at: number;
}

/** How long the command takes at most after it has noted what it does, in milliseconds. */
const ENDS_MS = 500;

/** Milliseconds since the machine started, by a clock that nothing here moves. */
export function uptimeMs(): number {
  return Math.round(Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 1_000);
}

export function readCalls(directory: string): Call[] {
  const lines = readFileSync(join(directory, "calls"), "utf8").trim().split("\n");
  return lines.map((line) => {
    const [outcome, at] = line.split(" ");
    return { outcome: outcome as Call["outcome"], at: Number(at) * 10 };
  });
}

/** True for a request that failed although there was a valid token throughout, whatever the daemon's clock said. */
export function isNeedless(
  { at, until }: { at: number; until: number },
  calls: readonly Call[],
  lifeMs: number,
): boolean {
  const latest = calls.findLast((call) => call.outcome === "token" && call.at + ENDS_MS <= at);
  return latest !== undefined && until < latest.at + lifeMs;
}
