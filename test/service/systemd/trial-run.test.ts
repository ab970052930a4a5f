import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sandboxTrialCommand } from "../../../src/service/systemd/trial-run.ts";
import { parseSettings, splitWords } from "../../../src/service/systemd/unit-syntax.ts";
import { renderSandbox, renderService } from "../../../src/service/systemd/render-units.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { targetFor } from "./service-target.ts";

/** Returns the trial command for the units of a target. */
function trialOf(target = targetFor()): string[] {
  return sandboxTrialCommand(target, renderService(target), renderSandbox(target), "/home/ada");
}

const propertiesOf = (argv: readonly string[]) =>
  argv.filter((word) => word.startsWith("--property=")).map((word) => word.slice("--property=".length));

test("the trial uses every setting of the drop-in as it would be installed", () => {
  const properties = propertiesOf(trialOf());
  const settings = parseSettings(renderSandbox(targetFor()));
  assert.ok(settings.length >= 8);
  for (const { name, value } of settings) {
    assert.ok(properties.includes(`${name}=${value.replaceAll("%h", "/home/ada")}`), name);
  }
});

test("the trial uses the service's restrictions but not the settings for starting and supervising it", () => {
  const properties = propertiesOf(trialOf());
  for (const property of ["NoNewPrivileges=yes", "RestrictNamespaces=yes", "UMask=0077"]) {
    assert.ok(properties.includes(property), property);
  }
  const names = properties.map((property) => property.split("=")[0] ?? "");
  assert.deepEqual(
    names.filter((name) =>
      /^(?:Type|Exec|Restart$|Watchdog|Timeout|Description|WantedBy|StartLimit)/.test(name),
    ),
    [],
  );
});

test("the trial's properties contain no specifiers, and literal percent signs are kept", () => {
  const properties = propertiesOf(trialOf(targetFor({ writableDirectories: ["/mnt/100%h"] })));
  assert.ok(properties.includes('ReadWritePaths="/mnt/100%h"'));
  assert.ok(properties.includes("InaccessiblePaths=-/home/ada/.ssh"));
});

test("a home directory with spaces, quotes and apostrophes stays one word", () => {
  const home = `/home/it's "ada" l`;
  const target = targetFor();
  const values = propertiesOf(sandboxTrialCommand(target, renderService(target), renderSandbox(target), home))
    .filter((property) => property.startsWith("InaccessiblePaths="))
    .map((property) => property.slice("InaccessiblePaths=".length));
  assert.deepEqual(values.map(splitWords), [[`-${home}/.ssh`], [`-${home}/.gnupg`]]);
});

test("the trial has a time limit", () => {
  assert.ok(propertiesOf(trialOf()).includes("RuntimeMaxSec=20"));
});

test("the trial runs the target's Node with the trial program, which exists", () => {
  const target = targetFor({ node: process.execPath });
  const argv = trialOf(target);
  const [node = "", program = "", ...rest] = argv.slice(argv.indexOf("--") + 1);
  assert.equal(node, process.execPath);
  assert.ok(existsSync(program));
  assert.deepEqual(rest, ["--", ...target.writableDirectories]);
});

test("the trial reads the configuration and the trusted files that exist", (t) => {
  const [configFile, key, ca] = ["c.jsonc", "$key", "ca.pem"].map((name) => join(scratchDirectory(t), name));
  assert.ok(configFile !== undefined && key !== undefined && ca !== undefined);
  for (const file of [configFile, key]) writeFileSync(file, "{}");
  const argv = trialOf(targetFor({ configFile, trustedFiles: [ca, key], writableDirectories: ["/$a"] }));
  // systemd-run expands `$` as described in systemd.service(5).
  const inArguments = [configFile, key, "--", "/$a"].map((word) => word.replaceAll("$", "$$$$"));
  assert.deepEqual(argv.slice(-4), inArguments);
});

test("the trial program reports an unreadable, unwritable or foreign file in one line", (t) => {
  const directory = scratchDirectory(t);
  const argv = trialOf(targetFor({ node: process.execPath }));
  const program = argv[argv.indexOf("--") + 2] ?? "";
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ["--import", "tsx", program, ...args], { encoding: "utf8" });
  const config = join(directory, "c.jsonc");
  writeFileSync(config, "{}", { mode: 0o600 });
  const good = run(config, "--", directory);
  assert.deepEqual([good.status, good.stderr], [0, ""]);
  for (const [args, complaint] of [
    [["--", join(directory, "gone")], /^ENOENT[^\n]*gone'\n$/],
    [[config, join(directory, "key"), "--"], /^ENOENT[^\n]*key'\n$/],
    ...(process.getuid?.() === 0
      ? []
      : ([[["/etc/passwd", "--"], /^\/etc\/passwd does not belong to you/]] as const)),
  ] as const) {
    const { status, stderr } = run(...args);
    assert.equal(status, 1);
    assert.match(stderr, complaint);
  }
});
