import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, unlinkSync, writeFileSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { createPeerInfo } from "../../../src/adapters/peer.ts";
import { PROCESS_SIGNATURES } from "../../../src/tools/all.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import {
  CONNECTING_CLIENT,
  findProcess,
  findProject,
  startClient,
  startServer,
} from "../../helpers/process/peer-connection.ts";
import { linkProgram } from "../../helpers/process/tool-process.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";

const notLinux = process.platform !== "linux" && "needs Linux: elsewhere there is no /proc";

test("identifies a process whose executable an update has replaced", { skip: notLinux }, async (t) => {
  const claude = linkProgram(t, "claude");
  const client = await startClient(t, await startServer(t), [claude, "-e", CONNECTING_CLIENT]);
  unlinkSync(claude);
  const found = await findProcess(createPeerInfo(PROCESS_SIGNATURES), client.ends);
  assert.equal(found?.record.executable, claude);
  assert.deepEqual(found.name, { tool: "claude-code", isProgramName: false });
});

for (const [what, title] of [
  ["the script that it runs", null],
  ["a process title with brackets in it", "qwen ) S 1 ("],
] as const) {
  test(
    `identifies an interpreter's process by ${what}, and keeps none of its arguments`,
    { skip: notLinux },
    async (t) => {
      const directory = join(scratchDirectory(t), title === null ? "node_modules/@qwen-code/qwen-code" : "x");
      mkdirSync(directory, { recursive: true });
      const script = join(directory, "cli.cjs");
      writeFileSync(
        script,
        (title === null ? "" : `process.title = ${JSON.stringify(title)};`) + CONNECTING_CLIENT,
      );
      const command = [process.execPath, "--no-warnings", script, "--prompt", "a-secret"];
      const client = await startClient(t, await startServer(t), command);
      const found = await findProcess(createPeerInfo(PROCESS_SIGNATURES), client.ends);
      assert.deepEqual(found?.name, { tool: "qwen-code", isProgramName: false });
      assert.doesNotMatch(JSON.stringify(found), /a-secret|cli\.cjs/);
    },
  );
}

test("attributes a program that a tool's shell has started to the tool", { skip: notLinux }, async (t) => {
  const claude = linkProgram(t, "claude");
  const inner = `"${process.execPath}" -e '${CONNECTING_CLIENT.replaceAll("\n", " ")}'; true`;
  const start = `require("child_process").spawn("sh", ["-c", ${JSON.stringify(inner)}], { stdio: "inherit" })`;
  const client = await startClient(t, await startServer(t), [claude, "-e", start], { detached: true });
  t.after(() => process.kill(-client.pid, "SIGKILL"));
  const found = await findProcess(createPeerInfo(PROCESS_SIGNATURES), client.ends);
  assert.deepEqual(found?.name, { tool: "claude-code", isProgramName: false });
  assert.match(found.record.parents.slice(0, 2).join(" "), /^\w+ claude$/);
});

test("returns the repository of the working directory as the project", { skip: notLinux }, async (t) => {
  const repository = realpathSync(scratchDirectory(t));
  mkdirSync(join(repository, ".git"));
  mkdirSync(join(repository, "src"));
  const client = await startClient(t, await startServer(t), undefined, { cwd: join(repository, "src") });
  const peers = createPeerInfo(PROCESS_SIGNATURES);
  assert.equal(await findProject(peers, client.ends, client.pid), repository);
});

test("returns no project for a working directory that was removed", { skip: notLinux }, async (t) => {
  const gone = join(scratchDirectory(t), "gone");
  mkdirSync(gone);
  const client = await startClient(t, await startServer(t), undefined, { cwd: gone });
  execFileSync("rmdir", [gone]);
  assert.equal(await findProject(createPeerInfo(PROCESS_SIGNATURES), client.ends, client.pid), null);
});

test(
  "identifies processes by their executable while reading the arguments of one hangs",
  { skip: notLinux },
  async (t) => {
    const server = await startServer(t);
    const clients = [await startClient(t, server), await startClient(t, server)];
    const { readFile } = fs;
    const { promise: held, resolve: release } = withResolvers<string>();
    const mocked = t.mock.method(fs, "readFile", ((path: string, ...rest: "utf8"[]) =>
      path.endsWith("/cmdline") ? held : readFile(path, ...rest)) as typeof readFile);
    syncBuiltinESMExports();
    // The timeout itself does not keep the process alive.
    const alive = setInterval(() => {}, 1_000);
    t.after(() => {
      clearInterval(alive);
      mocked.mock.restore();
      syncBuiltinESMExports();
      release("");
    });
    const peers = createPeerInfo(PROCESS_SIGNATURES);
    for (const { pid, ends } of clients) {
      assert.equal((await findProcess(peers, ends))?.record.pid, pid);
    }
  },
);
