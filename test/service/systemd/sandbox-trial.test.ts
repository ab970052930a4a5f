import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { trialCommand } from "../../../src/service/systemd/sandbox-trial.ts";
import { settingsOf } from "../../../src/service/systemd/unit-file.ts";
import { renderSandbox, renderService } from "../../../src/service/systemd/units.ts";
import { readWords } from "../../../src/service/systemd/exec-quoting.ts";
import { scratchDirectory } from "../../helpers/keychain/keychain-session.ts";
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
  assert.ok(properties.includes("InaccessiblePaths=-/home/ada/.ssh"));
});

test("a home directory is one word, whatever is in its name", () => {
  const home = `/home/it's "ada" l`;
  const target = targetFor();
  const values = propertiesOf(trialCommand(target, renderService(target), renderSandbox(target), home))
    .filter((property) => property.startsWith("InaccessiblePaths="))
    .map((property) => property.slice("InaccessiblePaths=".length));
  assert.deepEqual(values.map(readWords), [[`-${home}/.ssh`], [`-${home}/.gnupg`]]);
});

test("it ends by itself when it hangs", () => {
  assert.ok(propertiesOf(trialOf()).includes("RuntimeMaxSec=20"));
});

test("what runs inside is this Node and a program that is there", () => {
  const target = targetFor({ node: process.execPath });
  const argv = trialOf(target);
  const [node = "", inside = "", ...rest] = argv.slice(argv.indexOf("--") + 1);
  assert.equal(node, process.execPath);
  assert.ok(existsSync(inside));
  assert.deepEqual(rest, ["--", ...target.writable]);
});

test("the files that the daemon reads are tried, too, as far as they are there", (t) => {
  const [configFile, key, ca] = ["c.jsonc", "$key", "ca.pem"].map((name) => join(scratchDirectory(t), name));
  assert.ok(configFile !== undefined && key !== undefined && ca !== undefined);
  for (const file of [configFile, key]) writeFileSync(file, "{}");
  const argv = trialOf(targetFor({ configFile, reads: [ca, key], writable: ["/$a"] }));
  // systemd-run reads `$` as systemd.service(5) has it.
  const inArguments = [configFile, key, "--", "/$a"].map((word) => word.replaceAll("$", "$$$$"));
  assert.deepEqual(argv.slice(-4), inArguments);
});

test("inside, what cannot be read or written, or is not one's own, is told on one line", (t) => {
  const directory = scratchDirectory(t);
  const argv = trialOf(targetFor({ node: process.execPath }));
  const inside = argv[argv.indexOf("--") + 2] ?? "";
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ["--import", "tsx", inside, ...args], { encoding: "utf8" });
  const config = join(directory, "c.jsonc");
  writeFileSync(config, "{}", { mode: 0o600 });
  const good = run(config, "--", directory);
  assert.deepEqual([good.status, good.stderr], [0, ""]);
  for (const [words, complaint] of [
    [["--", join(directory, "gone")], /^ENOENT[^\n]*gone'\n$/],
    [[config, join(directory, "key"), "--"], /^ENOENT[^\n]*key'\n$/],
    ...(process.getuid?.() === 0
      ? []
      : ([[["/etc/passwd", "--"], /^\/etc\/passwd is not your own/]] as const)),
  ] as const) {
    const { status, stderr } = run(...words);
    assert.equal(status, 1);
    assert.match(stderr, complaint);
  }
});
