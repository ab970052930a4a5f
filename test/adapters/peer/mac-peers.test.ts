import assert from "node:assert/strict";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { test } from "node:test";
import { createMacPeers } from "../../../src/adapters/peer/mac-peers.ts";
import { PROCESS_SIGNATURES } from "../../../src/tools/all.ts";
import type { RunSystemTool } from "../../../src/adapters/programs/run-system-tool.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";

// Output in the shape that lsof(8) and ps(1) of macOS describe; none of it was recorded.
const SOCKETS = `p812
f21
n127.0.0.1:8655->127.0.0.1:54321
p4711
f9
n127.0.0.1:54320->127.0.0.1:8655
f23
n127.0.0.1:54321->127.0.0.1:8655
`;
const PROCESSES = `    1     0 /sbin/launchd
  700     1 /Applications/Visual Studio Code.app/Contents/MacOS/Electron
  701   700 /bin/zsh
 4700   701 /opt/homebrew/bin/claude
 4711  4700 /usr/bin/curl
`;
const DIRECTORY = "p4711\nfcwd\nn/nonexistent/My Project\n";

const CLIENT = { address: "127.0.0.1", port: 54_321 };
const SERVER = { address: "127.0.0.1", port: 8655 };
const QUERY = { isOver: () => false };

/** Returns what a Mac's programs would print, and records the calls. */
function fakeMac(change: (args: string) => string | null | undefined = () => undefined) {
  const calls: string[] = [];
  const run: RunSystemTool = async (file, args) => {
    const call = [file, ...args].join(" ");
    calls.push(call);
    const changed = change(call);
    if (changed !== undefined) return changed;
    if (file.endsWith("ps")) return PROCESSES;
    return call.includes("-iTCP") ? SOCKETS : DIRECTORY;
  };
  return { calls, peers: createMacPeers(run, PROCESS_SIGNATURES) };
}

test("finds the client's process instead of the daemon's, with parents up to the editor, and names it by the nearest tool", async () => {
  const { calls, peers } = fakeMac();
  const owner = await peers.lookUp(CLIENT, SERVER);
  assert.equal(owner.uid, null);
  assert.deepEqual(calls, []);
  assert.deepEqual(await owner.findProcess(QUERY), {
    record: { pid: 4711, executable: "/usr/bin/curl", parents: ["claude", "zsh", "Electron"] },
    name: { tool: "claude-code", isProgramName: false },
  });
  assert.deepEqual(calls, [
    "/usr/sbin/lsof -nP -iTCP@127.0.0.1:54321 -sTCP:ESTABLISHED -Fpn",
    "/bin/ps -axww -o pid=,ppid=,comm=",
  ]);
});

test("looks up the working directory separately from the process", async () => {
  const { calls, peers } = fakeMac();
  const owner = await peers.lookUp(CLIENT, SERVER);
  assert.equal(await owner.findProject(4711), "/nonexistent/My Project");
  assert.equal(calls.at(-1), "/usr/sbin/lsof -a -p4711 -dcwd -Fpn");
});

test("writes IPv6 addresses in brackets for lsof", async () => {
  const { calls, peers } = fakeMac((call) =>
    call.includes("-iTCP") ? "p4711\nf23\nn[::1]:54321->[::1]:8655\n" : undefined,
  );
  const owner = await peers.lookUp({ ...CLIENT, address: "::1" }, { ...SERVER, address: "::1" });
  assert.equal((await owner.findProcess(QUERY))?.record.pid, 4711);
  assert.match(calls[0] ?? "", /-iTCP@\[::1\]:54321 /);
});

for (const [what, change] of [
  ["lsof fails", (call) => (call.includes("lsof") ? null : undefined)],
  ["lsof does not list the connection", (call) => (call.includes("lsof") ? "p4711\nf9\nn*:80\n" : undefined)],
  ["ps fails", (call) => (call.includes("/ps") ? null : undefined)],
  [
    "ps does not list the process any more",
    (call) => (call.includes("/ps") ? "1 0 /sbin/launchd" : undefined),
  ],
] as [string, (call: string) => string | null | undefined][]) {
  test(`finds no process when ${what}`, async () => {
    const { peers } = fakeMac(change);
    assert.equal(await (await peers.lookUp(CLIENT, SERVER)).findProcess(QUERY), null);
  });
}

test("looks up one connection at a time, skips ended ones, and queues at most 32", async () => {
  const { promise: held, resolve: release } = withResolvers<string>();
  let running = 0;
  let most = 0;
  const peers = createMacPeers(async (file) => {
    running += 1;
    most = Math.max(most, running);
    await held;
    running -= 1;
    return file.endsWith("ps") ? PROCESSES : SOCKETS;
  }, PROCESS_SIGNATURES);
  const owner = await peers.lookUp(CLIENT, SERVER);
  const over = { ...QUERY, isOver: () => true };
  const lookups = Array.from({ length: 33 }, (_, i) => owner.findProcess(i === 5 ? over : QUERY));
  release("");
  const found = await Promise.all(lookups);
  assert.deepEqual(
    found.flatMap((process, i) => (process === null ? [i] : [])),
    [5, 32],
  );
  assert.equal(most, 1);
});

test("finds processes while the lookup of a project hangs", async (t) => {
  const { peers } = fakeMac();
  const { stat } = fs;
  const mocked = t.mock.method(fs, "stat", (async () => new Promise(() => {})) as unknown as typeof stat);
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  const owner = await peers.lookUp(CLIENT, SERVER);
  void owner.findProject(4711);
  assert.equal((await owner.findProcess(QUERY))?.record.pid, 4711);
});
