import assert from "node:assert/strict";
import { test } from "node:test";
import { configPath } from "../../../src/adapters/paths.ts";
import { programName } from "../../../src/adapters/program.ts";
import { configOption, putConfigLast, takeConfig, useConfigFile } from "../../../src/cli/config-in-use.ts";
import { withProgramName } from "../../../src/cli/terminal/program-name.ts";

const ME = programName();

test("commands of ours are written as they are typed here, and the command line of another process stays as it is", () => {
  const own = `${ME} service stop`;
  assert.equal(withProgramName("stop it with: tollkeeper service stop"), `stop it with: ${own}`);
  const holder = "pid 7 (/usr/bin/node /opt/tollkeeper serve)";
  assert.equal(withProgramName(holder), holder);
});

test("a printed command names the configuration file that is in use, once, where the command reads one", (t) => {
  t.after(() => useConfigFile(undefined));
  useConfigFile("/srv/it's mine.jsonc");
  const option = `--config '/srv/it'\\''s mine.jsonc'`;
  const printed = {
    "type: tollkeeper key set, and paste the key": `type: ${ME} ${option} key set, and paste the key`,
    "with: tollkeeper config edit --config /other; then: tollkeeper serve": `with: ${ME} config edit --config /other; then: ${ME} ${option} serve`,
    "tollkeeper service stop, then: tollkeeper service install": `${ME} service stop, then: ${ME} ${option} service install`,
    "tollkeeper setup; or tollkeeper sandbox": `${ME} ${option} setup; or ${ME} sandbox`,
    "for more, type: tollkeeper budget --help": `for more, type: ${ME} budget --help`,
    "in a container: tollkeeper bridge --socket S": `in a container: ${ME} bridge --socket S`,
    "to see all keys, type: tollkeeper config schema": `to see all keys, type: ${ME} config schema`,
    "tollkeeper is not running": "tollkeeper is not running",
  };
  for (const [text, expected] of Object.entries(printed)) assert.equal(withProgramName(text), expected);
  assert.deepEqual(configOption("/other"), ["--config", "/other"]);
  // The usual one is not the one that would be used.
  assert.deepEqual(configOption(configPath()), ["--config", configPath()]);
});

test("a printed command does not name the usual configuration file, even if that was named", (t) => {
  t.after(() => useConfigFile(undefined));
  for (const option of [undefined, configPath()]) {
    useConfigFile(option);
    assert.equal(withProgramName("tollkeeper key set"), `${ME} key set`);
    assert.deepEqual(configOption(configPath()), []);
  }
});

test("--config is taken wherever it stands in front of --, and only with its file", () => {
  const cases: [line: string, last: string, file: string | undefined][] = [
    ["--config F key set", "key set --config F", "F"],
    ["key --config F set", "key set --config F", "F"],
    ["--config=F key set --json", "key set --json --config=F", "F"],
    ["--config F run -- x --config G", "run --config F -- x --config G", "F"],
    ["run -- x --config G", "run -- x --config G", undefined],
    ["status --config", "status --config", undefined],
    ["status --config --json", "status --config --json", undefined],
    ["status --config= --json", "status --config= --json", undefined],
  ];
  for (const [line, last, file] of cases) {
    assert.deepEqual(putConfigLast(line.split(" ")), last.split(" "));
    assert.equal(takeConfig(line.split(" ")).file, file, line);
  }
});
