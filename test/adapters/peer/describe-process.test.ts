import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, unlinkSync, writeFileSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { createPeerInfo } from "../../../src/adapters/peer.ts";
import { scratchDirectory } from "../../helpers/keychain/keychain-session.ts";
import {
  CONNECTING,
  findProcess,
  findProject,
  startClient,
  startServer,
} from "../../helpers/process/peer-connection.ts";
import { programCalled } from "../../helpers/process/tool-process.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";

const notLinux = process.platform !== "linux" && "needs Linux: elsewhere there is no /proc";

test("an executable that an update has replaced keeps its name", { skip: notLinux }, async (t) => {
  const claude = programCalled(t, "claude");
  const client = await startClient(t, await startServer(t), [claude, "-e", CONNECTING]);
  unlinkSync(claude);
  const found = await findProcess(createPeerInfo(), client.ends);
  assert.equal(found?.record.executable, claude);
  assert.deepEqual(found.name, { tool: "claude-code", isOwn: false });
});

for (const [what, title] of [
  ["the script that it runs", null],
  ["the title that it gave itself, with brackets in it", "qwen ) S 1 ("],
] as const) {
  test(
    `an interpreter's process is named by ${what}, and its arguments are kept nowhere`,
    { skip: notLinux },
    async (t) => {
      const directory = join(scratchDirectory(t), title === null ? "node_modules/@qwen-code/qwen-code" : "x");
      mkdirSync(directory, { recursive: true });
      const script = join(directory, "cli.cjs");
      writeFileSync(script, (title === null ? "" : `process.title = ${JSON.stringify(title)};`) + CONNECTING);
      const command = [process.execPath, "--no-warnings", script, "--prompt", "a-secret"];
      const client = await startClient(t, await startServer(t), command);
      const found = await findProcess(createPeerInfo(), client.ends);
      assert.deepEqual(found?.name, { tool: "qwen-code", isOwn: false });
      assert.doesNotMatch(JSON.stringify(found), /a-secret|cli\.cjs/);
    },
  );
}

test("a program that a tool's shell has started is the tool's", { skip: notLinux }, async (t) => {
  const claude = programCalled(t, "claude");
  const inner = `"${process.execPath}" -e '${CONNECTING.replaceAll("\n", " ")}'; true`;
  const start = `require("child_process").spawn("sh", ["-c", ${JSON.stringify(inner)}], { stdio: "inherit" })`;
  const client = await startClient(t, await startServer(t), [claude, "-e", start], { detached: true });
  t.after(() => process.kill(-client.pid, "SIGKILL"));
  const found = await findProcess(createPeerInfo(), client.ends);
  assert.deepEqual(found?.name, { tool: "claude-code", isOwn: false });
  assert.match(found.record.parents.slice(0, 2).join(" "), /^\w+ claude$/);
});

test("its project is the repository that it works in", { skip: notLinux }, async (t) => {
  const repository = realpathSync(scratchDirectory(t));
  mkdirSync(join(repository, ".git"));
  mkdirSync(join(repository, "src"));
  const client = await startClient(t, await startServer(t), undefined, { cwd: join(repository, "src") });
  const peers = createPeerInfo();
  assert.equal(await findProject(peers, client.ends, client.pid), repository);
});

test("a directory that was removed is no project", { skip: notLinux }, async (t) => {
  const gone = join(scratchDirectory(t), "gone");
  mkdirSync(gone);
  const client = await startClient(t, await startServer(t), undefined, { cwd: gone });
  execFileSync("rmdir", [gone]);
  assert.equal(await findProject(createPeerInfo(), client.ends, client.pid), null);
});

test(
  "a process whose arguments never come is found by its executable, and so is the next",
  { skip: notLinux },
  async (t) => {
    const server = await startServer(t);
    const clients = [await startClient(t, server), await startClient(t, server)];
    const { readFile } = fs;
    const { promise: held, resolve: letGo } = withResolvers<string>();
    const mocked = t.mock.method(fs, "readFile", ((path: string, ...rest: "utf8"[]) =>
      path.endsWith("/cmdline") ? held : readFile(path, ...rest)) as typeof readFile);
    syncBuiltinESMExports();
    // A limit alone keeps no process alive.
    const alive = setInterval(() => {}, 1_000);
    t.after(() => {
      clearInterval(alive);
      mocked.mock.restore();
      syncBuiltinESMExports();
      letGo("");
    });
    const peers = createPeerInfo();
    for (const { pid, ends } of clients) {
      assert.equal((await findProcess(peers, ends))?.record.pid, pid);
    }
  },
);
