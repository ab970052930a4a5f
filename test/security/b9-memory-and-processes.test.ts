// B9, leaks on the machine: the key is only in the daemon's memory. No argument, environment, debug output, diagnostic report, core
// dump or inspector of its processes reveals it. ssh-agent also calls prctl(PR_SET_DUMPABLE, 0), which keeps debuggers of the same
// user out. Node has no such call, so ptrace is left to the system (kernel.yama.ptrace_scope).
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createKeychain } from "../../src/adapters/keychain.ts";
import { hardenProcess } from "../../src/daemon/harden.ts";
import { Failure } from "../../src/core/failure.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { launchDaemon, startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { post } from "../helpers/gate/gate.ts";
import { noKeyring, startUnlockedSession } from "../helpers/keychain/keychain-session.ts";
import { setEnvironment } from "../helpers/process/set-environment.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import {
  catchesSigusr1,
  waitForKeytarCall,
  waitForKeytarChild,
  listeningPortsOf,
} from "../helpers/process/processes.ts";
import { startUpstream, respondWithMessage } from "../helpers/upstream/scripted-upstream.ts";
import { assertNowhere, describeProcesses, makeSentinel } from "./leak-search.ts";
import {
  startDaemonWithUpstream,
  type DaemonWithUpstreamOptions,
} from "../helpers/daemon/daemon-with-upstream.ts";

const linuxOnly = process.platform === "linux" ? false : "needs Linux: reads /proc";

/** Starts a daemon and sends one request, so that it has the key in its memory. */
async function startWithKey(
  t: TestContext,
  key: string,
  options: DaemonWithUpstreamOptions,
): Promise<Daemon> {
  const { upstream, daemon } = await startDaemonWithUpstream(t, respondWithMessage, {
    cwd: scratchDirectory(t),
    ...options,
    key,
  });
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
  assert.equal(upstream.seen[0]?.headers["x-api-key"], key);
  return daemon;
}

test(
  "neither the daemon nor the process that reads the keychain has the key in its arguments or environment",
  { skip: noKeyring },
  async (t) => {
    const upstream = await startUpstream(t, respondWithMessage);
    const session = await startUnlockedSession(t);
    const key = makeSentinel();
    const ref = {
      name: "default",
      origin: upstream.origin,
      source: { kind: "keychain" },
      setArguments: "key set",
    } as const;
    await session.storeKey(key, ref.origin);
    const daemon = await startDaemon(t, {
      config: { upstreams: { default: { baseUrl: upstream.baseUrl } } },
      env: session.busEnv,
    });
    assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
    assert.equal(upstream.seen[0]?.headers["x-api-key"], key);

    await session.freeze();
    // Without busctl the hanging keychain is not detected beforehand, and keytar's process waits for it.
    setEnvironment(t, { ...session.env, PATH: scratchDirectory(t) });
    const read = assert.rejects(createKeychain({ timeoutMs: 20_000 }).read(ref), { code: "unavailable" });
    const child = await waitForKeytarChild(process.pid);
    assertNowhere(key, describeProcesses());
    // The signal that opens Node's inspector, sent as soon as Node handles it, which is long before keytar runs.
    assert.equal(await catchesSigusr1(child.pid), true);
    process.kill(child.pid, "SIGUSR1");
    await waitForKeytarCall(child.pid);
    assert.deepEqual(listeningPortsOf(child.pid), []);
    process.kill(child.pid, "SIGKILL");
    await read;
  },
);

test("a daemon does not start under settings with which Node prints or dumps its memory, and names them", async (t) => {
  await Promise.all([
    assert.rejects(
      startDaemon(t, { env: { NODE_DEBUG: "http" } }),
      /error: under NODE_DEBUG Node would print the key\nhint: unset NODE_DEBUG, and use --debug instead\n/,
    ),
    assert.rejects(
      startDaemon(t, { env: { NODE_OPTIONS: "--heapsnapshot-signal=SIGUSR2" } }),
      /error: under --heapsnapshot-signal Node would write .*\nhint: remove --heapsnapshot-signal from NODE_OPTIONS/,
    ),
  ]);
});

for (const [setting, named] of [
  [{ NODE_DEBUG: "https" }, "NODE_DEBUG"],
  [{ NODE_DEBUG: "tls,net" }, "NODE_DEBUG"],
  [{ NODE_DEBUG: "*" }, "NODE_DEBUG"],
  [{ NODE_DEBUG: "ht*" }, "NODE_DEBUG"],
  // A key command's output arrives through a stream, whose chunks Node prints in hexadecimal.
  [{ NODE_DEBUG: "stream" }, "NODE_DEBUG"],
  [{ NODE_OPTIONS: "--max-old-space-size=100 --heapsnapshot_signal=SIGUSR2" }, "--heapsnapshot-signal"],
  [{ NODE_OPTIONS: "--heapsnapshot-near-heap-limit=1" }, "--heapsnapshot-near-heap-limit"],
  [{ NODE_OPTIONS: "--tls-keylog=/tmp/keys" }, "--tls-keylog"],
] as const) {
  test(`the environment ${JSON.stringify(setting)} is refused and ${named} named`, (t) => {
    setEnvironment(t, { NODE_OPTIONS: undefined, NODE_DEBUG: undefined, ...setting });
    assert.throws(
      hardenProcess,
      (error) => error instanceof Failure && error.message.includes(`under ${named} `),
    );
  });
}

test(
  "a daemon does not start when SIGUSR1 arrives before it can handle the signal",
  { skip: linuxOnly },
  async (t) => {
    const home = scratchDirectory(t);
    // Sends the signal before the program's first line and waits until Node has opened the inspector.
    const early = join(home, "early.cjs");
    writeFileSync(
      early,
      `process.kill(process.pid, "SIGUSR1"); while (require("node:inspector").url() === undefined);`,
    );
    const start = launchDaemon(home, { env: { NODE_OPTIONS: `--inspect-port=0 --require=${early}` } });
    t.after(() => start.kill());
    await assert.rejects(
      start.ready,
      /error: Node's inspector is open.*\nhint: remove --inspect from NODE_OPTIONS/,
    );
  },
);

test("SIGUSR1 to a running daemon opens no inspector", async (t) => {
  // Any free port, so that the result does not depend on other inspectors.
  const daemon = await startDaemon(t, { env: { NODE_OPTIONS: "--inspect-port=0" } });
  process.kill(daemon.pid, "SIGUSR1");
  await daemon.status();
  assert.equal(await daemon.stop(), 0);
  assert.doesNotMatch(daemon.stderr(), /[Dd]ebugger/);
});

/** Code that crashes a daemon; preloaded into it. */
const BUGS = {
  "a fatal error": `for (const all = [];;) all.push(new Array(1e5).fill(all.length + 0.5));`,
  "an uncaught exception": `throw new Error("a bug");`,
};

for (const [what, bug] of Object.entries(BUGS)) {
  test(`no diagnostic report is written on a signal or at ${what}, even when NODE_OPTIONS enables them`, async (t) => {
    const cwd = scratchDirectory(t);
    const reports = scratchDirectory(t);
    writeFileSync(join(cwd, "bug.mjs"), `process.on("SIGUSR2", () => { ${bug} });`);
    const options = [
      `--import=${join(cwd, "bug.mjs")} --max-old-space-size=120 --report-directory=${reports}`,
      "--report-on-signal --report-signal=SIGWINCH --report-on-fatalerror --report-uncaught-exception",
    ];
    const daemon = await startWithKey(t, makeSentinel(), { cwd, env: { NODE_OPTIONS: options.join(" ") } });
    process.kill(daemon.pid, "SIGWINCH");
    await daemon.status();
    process.kill(daemon.pid, "SIGUSR2");
    assert.notEqual(await daemon.ended, 0);
    assert.deepEqual(readdirSync(reports), []);
  });
}

/** A launcher that enables core dumps. */
const DUMPING = ["/bin/sh", "-c", `ulimit -c unlimited; exec "$0" "$@"`];

test("a core dump of a daemon with a key in memory does not contain it", { skip: linuxOnly }, async (t) => {
  const key = makeSentinel();
  const cwd = scratchDirectory(t);
  // With this PATH prlimit is not found, so the dump is written. A piped dump would have the same content.
  const env = { PATH: cwd };
  const daemon = await startWithKey(t, key, { cwd, launcher: DUMPING, env });
  const filter = readFileSync(`/proc/${daemon.pid}/coredump_filter`, "utf8");
  process.kill(daemon.pid, "SIGABRT");
  assert.equal(await daemon.ended, null);
  const [core] = readdirSync(cwd).filter((name) => name.startsWith("core"));
  if (core === undefined) {
    t.diagnostic(
      "no core file here (kernel.core_pattern, or the hard limit): only the kernel's filter was checked",
    );
  } else {
    const dump = readFileSync(join(cwd, core));
    assert.equal(dump.toString("latin1", 1, 4), "ELF");
    for (const spelling of ["latin1", "utf16le"] as const) {
      assert.equal(
        dump.includes(Buffer.from(key, spelling)),
        false,
        `the key is in the core, as ${spelling}`,
      );
    }
  }
  assert.equal(filter, "00000000\n");
});

const noPrlimit = existsSync("/usr/bin/prlimit") ? false : "prlimit is not installed (Debian: util-linux)";

test("with prlimit installed no core dump is written at all", { skip: linuxOnly || noPrlimit }, async (t) => {
  const daemon = await startDaemon(t, { launcher: DUMPING });
  const limit = () =>
    /^Max core file size\s+(\S+)\s+(\S+)/m.exec(readFileSync(`/proc/${daemon.pid}/limits`, "utf8"))?.slice(1);
  // prlimit runs in parallel with the start, and only the limit shows when it is done.
  await waitUntil("the limit of prlimit", () => (limit()?.[0] === "0" ? true : null));
  assert.deepEqual(limit(), ["0", "0"]);
});
