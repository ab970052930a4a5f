import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { createPathProbes, type PathProbes } from "../../src/service/stable-paths.ts";

/** Files and links of a machine, to be created below a scratch directory. */
export interface FileLayout {
  files: string[];
  /** Targets by link. An absolute target is below the scratch directory. */
  links?: Record<string, string>;
}

/** Contains `$&`, which must not be interpreted as a replacement pattern. */
export const HOME = "/home/ada $& co";

/** Creates the files and links below a scratch directory, and returns it with probes that use it as the root. */
export function createFiles(t: TestContext, { files, links = {} }: FileLayout) {
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
    ...createPathProbes(),
    home: root + HOME,
    temporary: [`${root}/tmp`, `${root}/run`],
  };
  return { root, probes };
}
