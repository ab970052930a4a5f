import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, openSync, readFileSync, closeSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { prepareHome } from "../../helpers/daemon/daemon.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";

test("a command completes when the reader of its output closes the pipe", async (t) => {
  const { home, env, configFile } = prepareHome(t, { config: { listen: { port: 4711 } } });
  const settings = join(home, ".claude", "settings.json");
  mkdirSync(dirname(settings));
  writeFileSync(settings, "{}");
  const words = ["connect", "claude", "--yes", "--config", configFile];
  const child = spawn(process.execPath, [PROGRAM, ...words], { env, stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  assert.deepEqual([code, said.match(/^ +at /m)], [0, null], said);
  assert.match(readFileSync(settings, "utf8"), /tk-claude-code/);
});

const noFullDevice = existsSync("/dev/full") ? false : "needs /dev/full";

test(
  "a full output device is reported once and makes the command exit with 1",
  { skip: noFullDevice },
  async (t) => {
    const { env, configFile } = prepareHome(t, { config: { listen: { port: 4711 } } });
    const full = openSync("/dev/full", "w");
    t.after(() => closeSync(full));
    const words = ["connect", "claude", "--dry-run", "--config", configFile];
    const child = spawn(process.execPath, [PROGRAM, ...words], { env, stdio: ["ignore", full, "pipe"] });
    const { stderr } = child;
    assert.ok(stderr !== null);
    const [said, [code]] = await Promise.all([text(stderr), once(child, "exit")]);
    assert.equal(code, 1);
    assert.match(
      said,
      /^(?:note: .*\n)*error: cannot write to standard output: .*the disk is full.*\nhint: .*\n$/,
    );
  },
);
