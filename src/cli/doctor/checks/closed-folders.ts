import { findLaunchdClosedFiles } from "../../../service/launchd.ts";
import { createPathProbes } from "../../../service/stable-paths.ts";
import { failure, type Check, type Finding } from "../../../check/check.ts";
import type { Evidence } from "../evidence.ts";

/**
 * Checks that macOS lets the service read its files. Reports nothing on other systems, nor for a running service, which has
 * been given access.
 */
export const closedFoldersCheck: Check<Evidence> = {
  id: "closed-folders",
  title: "closed folders",
  async run(evidence): Promise<Finding[]> {
    const { state, managerName } = await evidence.service();
    if (managerName !== "launchd" || state === null || state.isRunning) return [];
    const paths = [state.node, state.script, state.configFile].filter((path) => path !== null);
    const closed = findLaunchdClosedFiles(paths, createPathProbes());
    return closed.map(({ message, fix }) =>
      failure(`the service cannot read one of its files: ${message}`, fix),
    );
  },
};
