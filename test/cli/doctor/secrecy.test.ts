import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { placesIn } from "../../../src/cli/dotfiles/locations.ts";
import type { CheckedFinding } from "../../../src/cli/doctor/run.ts";
import { setUp } from "../../helpers/daemon/doctor.ts";
import { sentinelKey } from "../../helpers/keychain/key-command.ts";
import { answerJson } from "../../helpers/upstream/scripted-upstream.ts";

/** Is any part of the key in the text that could help to guess the rest? */
function isInPart(text: string, key: string): boolean {
  const random = key.slice(key.lastIndexOf("-") + 1);
  const parts = Array.from({ length: random.length - 7 }, (_, i) => random.slice(i, i + 8));
  return parts.some((part) => text.includes(part));
}

test("keys in every place there is are told by place, and none of them is printed, not even in part", async (t) => {
  const [own, foreign] = [sentinelKey(), sentinelKey()];
  const machine = await setUp(t, {
    key: own,
    env: { SOME_API_KEY: own, [`NAME_${foreign.replaceAll("-", "_")}_API_KEY`]: foreign, OTHER: `x ${own}` },
    upstream: (seen, res) =>
      answerJson(res, { error: { message: `${seen.headers.authorization} is bad` } }, 401),
  });
  const on = {
    home: machine.home,
    env: { XDG_CONFIG_HOME: join(machine.home, "config") },
    platform: process.platform,
  };
  const files = placesIn(on).map(({ kind, path, ending }) => {
    const file = ending === undefined ? path : join(path, `10-mine${ending}`);
    const [first, second] = kind === "shell" ? shellLines(own, foreign) : jsonLines(own, foreign);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${first}\n${second}\n`);
    return file.replace(machine.home, "~");
  });

  const text = await machine.doctor();
  const json = await machine.doctor("--json");
  for (const { stdout, stderr } of [text, json]) {
    for (const key of [own, foreign]) assert.ok(!isInPart(stdout + stderr, key), stdout + stderr);
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
  assert.match(text.stdout, /answers 401: Bearer \*+ is bad/);
});

test("a key's own file is no place that a key was left in", async (t) => {
  const machine = await setUp(t, {
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
