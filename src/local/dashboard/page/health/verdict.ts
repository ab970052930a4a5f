import type { Status } from "../feed-types.ts";
import { formatCount } from "../numbers.ts";

type Upstream = Status["upstreams"][number];

/**
 * Says in a sentence or two whether all is well, and what is not known of that.
 * @param tones - of all that was looked at: `failure`, `warning`, or "" where it is well
 */
export function verdictOf(tones: readonly string[], upstreams: readonly Upstream[]): string {
  const count = (tone: string) => tones.filter((one) => one === tone).length;
  const [wrong, open] = [count("failure"), count("warning")];
  const unused = upstreams.filter(isUnused).length;
  if (wrong + open + unused === 0) return "Everything works.";
  const said = [
    ...(wrong === 0 ? [] : [`${formatCount(wrong)} ${wrong === 1 ? "problem" : "problems"}`]),
    ...(open === 0 ? [] : [`${formatCount(open)} ${open === 1 ? "needs" : "need"} attention`]),
  ];
  const rest = unused === 0 ? "The rest works." : describeUnused(unused, upstreams.length);
  return `${said.join(", ") || "No problem found"}. ${rest}`;
}

/** Of upstreams without a request, nothing is known. */
function describeUnused(unused: number, all: number): string {
  if (unused === all) return "No upstream was contacted yet.";
  return `${formatCount(unused)} of ${formatCount(all)} upstreams ${unused === 1 ? "was" : "were"} not contacted yet.`;
}

/** Whether no request has shown yet if it works. */
export function isUnused({
  worked_at: worked,
  last_exchange: last,
  is_sandbox: isSandbox,
}: Upstream): boolean {
  return worked === null && last === null && !isSandbox;
}
