import assert from "node:assert/strict";
import { after, beforeEach, test, type TestContext } from "node:test";
import { repair } from "../helpers/daemon/repair.ts";
import type { BrokenSetup } from "./broken-setups/setup.ts";
import { startKeyedUpstream } from "./keyed-upstream.ts";
import { service } from "./service.ts";
import { SERVICE_USER } from "./service-user.ts";

/** What stands for an editor: a script that the row writes. */
const EDITOR = `${SERVICE_USER.home}/editor`;

/** Defines a test for each set-up: it is broken, and repaired by typing what `doctor` says and nothing else. */
export function testRepairs(setups: readonly BrokenSetup[]): void {
  beforeEach(() => service.removeAll());
  after(() => service.removeAll());
  for (const setup of setups) test(`what doctor says repairs ${setup.what}`, (t) => mend(t, setup));
}

async function mend(
  t: TestContext,
  { what, breaks, says, typed, edit, path, acts, undo }: BrokenSetup,
): Promise<void> {
  if (undo !== undefined) t.after(undo);
  await startKeyedUpstream(t);
  await service.mustRun("service", "install");
  await breaks();
  service.container.write(EDITOR, `#!/bin/sh\n${edit ?? "exit 1"}\n`, SERVICE_USER.uid);
  await service.container.root("chmod", "755", EDITOR);
  const variables = [`EDITOR=${EDITOR}`, `PATH=${path ?? ""}/usr/local/bin:/usr/bin:/bin`];
  const run = (...words: string[]) => service.container.user("env", ...variables, ...words);
  const found = await repair({
    doctor: () => run("tollkeeper", "doctor", "--json"),
    // A command may fail, as `service start` does after a cause that was not the only one. The next look at it says so.
    type: async (line) => void (await run("sh", "-c", line)),
    ...(acts !== undefined && { acts }),
  });
  t.diagnostic(`${what}: ${found.findings[0]}`);
  for (const line of found.typed) t.diagnostic(`  -> ${line}`);
  assert.match(found.findings.join("\n"), says);
  assert.deepEqual(
    found.typed.map((line) => line.replace(/^kill \d+$/, "kill PID")),
    typed,
  );
  assert.equal(await service.requestStatus(), 200);
}
