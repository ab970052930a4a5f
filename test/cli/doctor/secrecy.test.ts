import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { listDotfiles } from "../../../src/cli/dotfiles/locations.ts";
import type { CheckedFinding } from "../../../src/check/check.ts";
import { setUpMachine } from "../../helpers/daemon/machine.ts";
import { sentinelKey } from "../../helpers/keychain/key-command.ts";
import { sendJson } from "../../helpers/upstream/scripted-upstream.ts";

/** True when the text contains eight characters in a row of the key's random part. */
function containsPartOf(text: string, key: string): boolean {
  const random = key.slice(key.lastIndexOf("-") + 1);
  const parts = Array.from({ length: random.length - 7 }, (_, i) => random.slice(i, i + 8));
  return parts.some((part) => text.includes(part));
}

test("doctor reports keys in every known location by location and prints no part of any key", async (t) => {
  const [own, foreign] = [sentinelKey(), sentinelKey()];
  const machine = await setUpMachine(t, {
    key: own,
    env: { SOME_API_KEY: own, [`NAME_${foreign.replaceAll("-", "_")}_API_KEY`]: foreign, OTHER: `x ${own}` },
    upstream: (seen, res) =>
      sendJson(res, { error: { message: `${seen.headers.authorization} is bad` } }, 401),
  });
  const on = {
    home: machine.home,
    env: { XDG_CONFIG_HOME: join(machine.home, "config") },
    platform: process.platform,
  };
  const files = listDotfiles(on).map(({ kind, path, extension: ending }) => {
    const file = ending === undefined ? path : join(path, `10-mine${ending}`);
    const [first, second] = kind === "shell" ? shellLines(own, foreign) : jsonLines(own, foreign);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${first}\n${second}\n`);
    return file.replace(machine.home, "~");
  });

  const text = await machine.doctor();
  const json = await machine.doctor("--json");
  for (const { stdout, stderr } of [text, json]) {
    for (const key of [own, foreign]) assert.ok(!containsPartOf(stdout + stderr, key), stdout + stderr);
  }
  const { checks } = JSON.parse(json.stdout) as { checks: CheckedFinding[] };
  const leftovers = checks
    .filter(({ id }) => id === "leftover-keys")
    .map(({ verdict, message }) => `${verdict} ${message}`);
  for (const file of files) {
    assert.ok(
      leftovers.some((one) => one.startsWith("failure") && one.includes(`${file}:1`)),
      `${file}:1`,
    );
    assert.ok(
      leftovers.some((one) => one.startsWith("warning") && one.includes(`${file}:2`)),
      `${file}:2`,
    );
  }
  for (const name of ["SOME_API_KEY", "OTHER"])
    assert.match(text.stdout, new RegExp(`the environment \\(${name}\\)`));
  assert.match(text.stdout, /the environment \(\[hidden\]\)/);
  assert.match(text.stdout, /responded with 401: Bearer \*+ is bad/);
});

test("doctor does not report a key file that the configuration names as a leftover key", async (t) => {
  const machine = await setUpMachine(t, {
    config: (baseUrl) => ({ upstreams: { default: { baseUrl, keySource: { file: "~/.env" } } } }),
    files: { ".env": "%KEY%\n" },
    isStopped: true,
  });
  chmodSync(join(machine.home, ".env"), 0o600);
  const { stdout } = await machine.doctor();
  assert.match(stdout, /^ok +keys .*\.env\)$/m);
  assert.match(stdout, /^ok +leftover keys +none/m);
});

function shellLines(own: string, foreign: string): [string, string] {
  return [`export ANTHROPIC_API_KEY="${own}"`, `# OPENAI_API_KEY=${foreign}`];
}

function jsonLines(own: string, foreign: string): [string, string] {
  return [`{ "apiKey": "${own}",`, `"${foreign}": "Bearer ${foreign}" }`];
}
