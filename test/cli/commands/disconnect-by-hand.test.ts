import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { prepareManualRemoval, findManualConnection } from "../../../src/cli/connect/manual-connection.ts";
import { applySettings } from "../../../src/connect/edit/apply-settings.ts";
import { ALL_REACHES } from "../../../src/core/policy/tool-reach.ts";
import type { LocalEndpoint } from "../../../src/tools/tool.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { endpointFor, findTool, HOST } from "../../tools/tool-support.ts";

/** What a person has, where our settings go, too. */
const OWN = {
  "claude-code": '{\n  "env": {\n    "MINE": "1"\n  }\n}\n',
  codex: '# mine\npersonality = "terse"\n',
};

const WISHES: readonly Partial<LocalEndpoint>[] = [
  {},
  { smallModel: "anthropic/claude-haiku-4.5" },
  { isFirstParty: true },
];

/** Writes the settings of a tool without a journal, as the tool does that saves what it has read. Returns what disconnect makes of them. */
async function removed(t: TestContext, name: keyof typeof OWN, changes: Partial<LocalEndpoint>) {
  const home = scratchDirectory(t);
  const host = { ...HOST, home, env: {} };
  const tool = findTool(name);
  const { files } = tool.plan(host, endpointFor(name, { model: null, ...changes }), "user");
  const [file] = files;
  assert.ok(file);
  mkdirSync(join(file.path, ".."), { recursive: true });
  writeFileSync(file.path, applySettings(OWN[name], file, name).text);
  const manual = await findManualConnection(tool, host);
  assert.ok(manual);
  prepareManualRemoval(tool, host, manual)?.commit();
  return readFileSync(file.path, "utf8");
}

for (const name of ["claude-code", "codex"] as const) {
  for (const reach of ALL_REACHES) {
    for (const wish of name === "codex" ? [{}] : WISHES) {
      const what = JSON.stringify({ ...reach, ...wish });
      test(`settings of ${name} that no connection explains are removed whole, as written for ${what}`, async (t) => {
        const left = await removed(t, name, { reach, ...wish });
        assert.equal(left, OWN[name]);
      });
    }
  }
}
