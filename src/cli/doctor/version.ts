import { neededNode, programVersion } from "../../adapters/program.ts";
import { failure, ok, warning, type Check } from "./finding.ts";
import { restartCommand } from "../hints.ts";

/** Which tollkeeper and which Node, and whether the daemon that runs is the same tollkeeper. */
export const versionCheck: Check = {
  id: "version",
  title: "version",
  async look(evidence) {
    const [version, node] = [programVersion(), process.versions.node];
    const needed = neededNode();
    if (!isAtLeast(node, needed)) {
      const what = `Node ${node} runs this, and tollkeeper needs ${needed} or later`;
      return [failure(what, `install Node ${needed} or later, then: tollkeeper service install`)];
    }
    const { status } = await evidence.daemon();
    if (status !== null && status.version !== version) {
      const what = `this is tollkeeper ${version}, and the daemon that runs is still ${status.version}`;
      return [warning(what, await restartCommand(evidence))];
    }
    return [ok(`tollkeeper ${version}, Node ${node}`)];
  },
};

/** Is `version` no older than `needed`? Both are numbers with dots between; what is not given counts as 0. */
export function isAtLeast(version: string, needed: string): boolean {
  const [ours, theirs] = [version, needed].map((text) => text.split(".").map(Number));
  for (const [i, number] of (theirs ?? []).entries()) {
    const own = ours?.[i] ?? 0;
    if (own !== number) return own > number;
  }
  return true;
}
