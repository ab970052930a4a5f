import assert from "node:assert/strict";
import { test } from "node:test";
import { programName } from "../../../src/adapters/program.ts";
import { withProgramName } from "../../../src/cli/terminal/console.ts";

test("commands of ours are written as they are typed here, and the command line of another process stays as it is", () => {
  const own = `${programName()} service stop`;
  assert.equal(withProgramName("stop it with: tollkeeper service stop"), `stop it with: ${own}`);
  const holder = "pid 7 (/usr/bin/node /opt/tollkeeper serve)";
  assert.equal(withProgramName(holder), holder);
});
