import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { pathProbes } from "../../src/service/path-probes.ts";
import type { PathProbes } from "../../src/service/path-probes.ts";

/** A machine's files, below a directory of the test's. */
export interface MachineFiles {
  files: string[];
  /** Link to target; a relative one is resolved as the system does, an absolute one is below the root. */
  links?: Record<string, string>;
}

/** Replacement patterns must not be read out of it. */
export const HOME = "/home/ada $& co";

/** Makes them; "/..." in and out of it means below the scratch root. */
export function layOut(t: TestContext, { files, links = {} }: MachineFiles) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tollkeeper-layout-")));
  t.after(() => rmSync(root, { recursive: true }));
  for (const file of files) {
    mkdirSync(dirname(root + file), { recursive: true });
    writeFileSync(root + file, file, { mode: 0o755 });
  }
  for (const [link, target] of Object.entries(links)) {
    mkdirSync(dirname(root + link), { recursive: true });
    symlinkSync(target.startsWith("/") ? root + target : target, root + link);
  }
  const probes: PathProbes = {
    ...pathProbes(),
    home: root + HOME,
    temporary: [`${root}/tmp`, `${root}/run`],
  };
  return { root, probes };
}
