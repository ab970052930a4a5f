import type { Mutant } from "./mutant.ts";

const PROGRAM = "src/adapters/program.ts";
const OTHER_PROGRAM = "src/cli/service/other-program.ts";

const D10 = { row: "D10", test: "test/faults/d10-upgrades.test.ts" };
const D10_SOCKET = { row: "D10", test: "test/service/systemd.test.ts" };
const D10_INSTALL = { row: "D10", test: "test/cli/service/reinstall.test.ts" };

/** Upgrades: D10. */
export const UPGRADES: readonly Mutant[] = [
  {
    ...D10,
    without: "keeping the version with which the daemon was loaded",
    file: PROGRAM,
    find: "return manifest.version;",
    replace: `return (JSON.parse(readOwn("package.json").toString()) as PackageManifest).version;`,
  },
  {
    ...D10,
    without: "keeping the build with which the daemon was loaded",
    file: "src/adapters/program-build.ts",
    find: "return build;",
    replace: "return identifyBuild();",
  },
  {
    ...D10,
    without: "telling two builds of one version apart",
    file: OTHER_PROGRAM,
    find: "if (build === programBuild()) return null;",
    replace: "if (build !== null) return null;",
  },
  {
    ...D10,
    without: "letting streams finish before launchd starts the next daemon",
    file: "src/service/launchd/launchctl.ts",
    find: "this.#waitWhile(/^\\s*pid = \\d/m, exitMs),",
    replace: "",
  },
  {
    ...D10,
    without: "replacing a daemon that runs another program",
    file: "src/cli/service/install.ts",
    find: "status = await executeStartPlan(manager, await manager.restart(), port);",
    replace: "",
  },
  {
    ...D10_INSTALL,
    without: "replacing a daemon from before builds were told apart",
    file: OTHER_PROGRAM,
    find: "if (build === programBuild()) return null;",
    replace: "if (build === undefined || build === programBuild()) return null;",
  },
  {
    ...D10_SOCKET,
    without: "leaving a socket alone whose unit differs in its comments only",
    file: "src/service/systemd/install-steps.ts",
    find: "return isDeepStrictEqual(parseSettings(readUnit(path)), parseSettings(unit));",
    replace: "return isDeepStrictEqual([readUnit(path)], [unit]);",
  },
];
