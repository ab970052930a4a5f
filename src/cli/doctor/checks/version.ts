import type { Evidence } from "../evidence.ts";
import { requiredNodeVersion, programVersion } from "../../../adapters/program.ts";
import { explainUnmaintainedNode } from "../../../core/node-releases.ts";
import { failure, ok, warning, type Check } from "../../../check/check.ts";
import { startCommand } from "../fix-commands.ts";
import { describeOtherProgram, replaceCommand } from "../../service/other-program.ts";

/** Checks that Node is recent enough, and that the running daemon runs this program. */
export const versionCheck: Check<Evidence> = {
  id: "version",
  title: "version",
  async run(evidence) {
    const [version, node] = [programVersion(), process.versions.node];
    const needed = requiredNodeVersion();
    if (!isAtLeast(node, needed)) {
      const what = `this is Node ${node}, but tollkeeper needs Node ${needed} or later`;
      return [failure(what, `install Node ${needed} or later, then: tollkeeper service install`)];
    }
    const { status } = await evidence.daemon();
    const difference = status === null ? null : describeOtherProgram(status);
    if (status !== null && difference !== null) {
      const { state } = await evidence.service();
      return [warning(difference, replaceCommand(status, state))];
    }
    const unmaintained = explainUnmaintainedNode(node, Date.now());
    if (unmaintained !== null) return [warning(unmaintained, await useAnotherNode(evidence))];
    return [ok(`tollkeeper ${version}, Node ${node}`)];
  },
};

/** A service keeps the Node that it was installed with. */
async function useAnotherNode(evidence: Evidence): Promise<string> {
  const { state } = await evidence.service();
  return state?.isInstalled === true
    ? "install that Node, then: tollkeeper service install"
    : `install that Node, then start the daemon with it: ${await startCommand(evidence)}`;
}

/** True when `version` is not older than `needed`, which may have fewer parts. Both are dotted numbers. */
export function isAtLeast(version: string, needed: string): boolean {
  return version.localeCompare(needed, "en", { numeric: true }) >= 0;
}
