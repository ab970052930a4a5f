import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { prepareHome } from "../../helpers/daemon/daemon.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";

const FIX = /-> tollkeeper connect claude-code --statusline --yes$/m;

async function prepare(t: TestContext) {
  const machine = prepareHome(t, { config: { listen: { port: 4711 } } });
  assert.equal((await machine.command("connect", "claude-code", "--statusline", "--yes")).code, 0);
  const path = join(machine.home, ".claude", "settings.json");
  const change = (from: RegExp, to: string) =>
    writeFileSync(path, readFileSync(path, "utf8").replace(from, to));
  const statusLine = async () => {
    const { stdout } = await machine.command("doctor");
    return /^\w+ +status line[^]*?(?=^\w)/m.exec(stdout)?.[0] ?? "";
  };
  return { ...machine, change, statusLine };
}

function writeStatusLine(directory: string, line: string): void {
  const path = join(directory, ".claude", "settings.json");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ statusLine: { type: "command", command: line } }));
}

test("doctor names a status line whose Node was removed, and the command that mends it does", async (t) => {
  const { command, change, statusLine } = await prepare(t);
  assert.equal(await statusLine(), "");
  change(/"command": "[^" ]+/, '"command": "/home/me/.nvm/versions/node/v20.0.0/bin/node');
  const found = await statusLine();
  assert.match(
    found,
    /^failure +status line +Claude Code cannot draw the status line of ~\/\.claude\/settings\.json:\d+ \(statusLine\): .*v20\.0\.0.*not found/,
  );
  assert.match(found, FIX);
  assert.equal((await command("connect", "claude-code", "--statusline", "--yes")).code, 0);
  assert.equal(await statusLine(), "");
});

test("doctor names a status line whose program was moved", async (t) => {
  const { change, statusLine } = await prepare(t);
  change(/\S+\/dist\/tollkeeper-statusline\.js/, "/moved/tollkeeper-statusline.js");
  const found = await statusLine();
  assert.match(found, /Cannot find module '\/moved\/tollkeeper-statusline\.js'/);
  assert.match(found, FIX);
});

test("doctor names a status line whose Node is too old", async (t) => {
  const { home, change, statusLine } = await prepare(t);
  const old = join(home, "node");
  writeFileSync(old, "#!/bin/sh\necho 'tollkeeper needs Node 20.19 or newer; this is 18.20.8'\n");
  chmodSync(old, 0o755);
  change(/"command": "[^" ]+/, `"command": "${old}`);
  assert.match(
    await statusLine(),
    /\(statusLine\): tollkeeper needs Node 20\.19 or newer; this is 18\.20\.8/,
  );
});

test("doctor runs no status line that a project brings, and none of the user's own", async (t) => {
  const { home, env, command } = prepareHome(t, { config: { listen: { port: 4711 } } });
  const ran = join(home, "ran");
  const evil = join(home, "tollkeeper-statusline.js");
  writeFileSync(evil, `require("node:fs").writeFileSync(${JSON.stringify(ran)}, "")`);
  const project = join(home, "project");
  writeStatusLine(project, `${process.execPath} ${evil}`);
  writeStatusLine(home, `touch ${ran}`);
  await runProgram(["doctor"], { env, cwd: project });
  await command("doctor");
  assert.throws(() => readFileSync(ran), { code: "ENOENT" });
});
