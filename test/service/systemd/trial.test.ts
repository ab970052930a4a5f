import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { trialCommand } from "../../../src/service/systemd/trial.ts";
import { settingsOf } from "../../../src/service/systemd/unit-file.ts";
import { renderSandbox, renderService } from "../../../src/service/systemd/units.ts";
import { scratchDirectory } from "../../helpers/keyring.ts";
import { targetFor } from "./target.ts";

/** The trial of a target's own files. */
function trialOf(target = targetFor()): string[] {
  return trialCommand(target, renderService(target), renderSandbox(target), "/home/ada");
}

const propertiesOf = (argv: readonly string[]) =>
  argv.filter((word) => word.startsWith("--property=")).map((word) => word.slice("--property=".length));

test("what is tried is every setting of the drop-in, as it would be installed", () => {
  const properties = propertiesOf(trialOf());
  const settings = settingsOf(renderSandbox(targetFor()));
  assert.ok(settings.length >= 8);
  for (const { name, value } of settings) {
    assert.ok(properties.includes(`${name}=${value.replaceAll("%h", "/home/ada")}`), name);
  }
});

test("of the service it is what restricts the daemon, and not how it is started and watched", () => {
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

test("no specifier is left, because systemd-run takes none; a real percent sign stays one", () => {
  const properties = propertiesOf(trialOf(targetFor({ writable: ["/mnt/100%h"] })));
  assert.ok(properties.includes('ReadWritePaths="/mnt/100%h"'));
  assert.ok(properties.includes("InaccessiblePaths=-/home/ada/.ssh -/home/ada/.gnupg"));
});

test("what runs inside is this Node and a program that is there", () => {
  const target = targetFor({ node: process.execPath });
  const argv = trialOf(target);
  const [node = "", inside = "", ...rest] = argv.slice(argv.indexOf("--") + 1);
  assert.equal(node, process.execPath);
  assert.ok(existsSync(inside));
  assert.deepEqual(rest, ["", ...target.writable]);
});

test("a configuration file that is there is tried, too", (t) => {
  const configFile = join(scratchDirectory(t), "c.jsonc");
  assert.equal(trialOf(targetFor({ configFile })).includes(configFile), false);
  writeFileSync(configFile, "{}");
  assert.equal(trialOf(targetFor({ configFile })).includes(configFile), true);
});

test("inside, a directory that cannot be written and a file that is not there are told on one line", (t) => {
  const directory = scratchDirectory(t);
  const target = targetFor({ node: process.execPath });
  const argv = trialOf(target);
  const inside = argv[argv.indexOf("--") + 2] ?? "";
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ["--import", "tsx", inside, ...args], { encoding: "utf8" });
  assert.deepEqual([run("", directory).status, run("", directory).stderr], [0, ""]);
  const missing = run("", join(directory, "gone"));
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /^ENOENT[^\n]*gone'\n$/);
  const config = join(directory, "c.jsonc");
  assert.match(run(config).stderr, /^ENOENT[^\n]*\n$/);
  writeFileSync(config, "{}");
  chmodSync(config, 0o600);
  assert.equal(run(config, directory).status, 0);
});
