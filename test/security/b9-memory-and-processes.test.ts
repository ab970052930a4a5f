// B9, leaks on the machine: the key is in the daemon's memory alone, and no argument, environment, debug output, diagnostic report, core dump or inspector of its processes gives it away.
// ssh-agent also calls prctl(PR_SET_DUMPABLE, 0), which keeps debuggers of its own user out; Node has no such call, so ptrace is left to the system (kernel.yama.ptrace_scope).
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { test, type TestContext } from "node:test";
import { createKeychain } from "../../src/adapters/keychain.ts";
import { SCHEMA, SERVICE } from "../../src/adapters/keychain/protocol.ts";
import { hardenProcess } from "../../src/daemon/harden.ts";
import { Failure } from "../../src/core/failure.ts";
import { launchDaemon, startDaemon, type Daemon, type DaemonOptions } from "../helpers/daemon/daemon.ts";
import { post } from "../helpers/gate/gate.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { noKeyring, startSession } from "../helpers/keychain/keychain-session.ts";
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

const linuxOnly = process.platform === "linux" ? false : "reads Linux's /proc";

/** A daemon that has the key in its memory, because it has sent it once. */
async function startWithKey(t: TestContext, key: string, options: DaemonOptions): Promise<Daemon> {
  const upstream = await startUpstream(t, respondWithMessage);
  const { config } = writeKeyFile(t, upstream.baseUrl, key);
  const daemon = await startDaemon(t, { config, cwd: scratchDirectory(t), ...options });
  assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
  assert.equal(upstream.seen[0]?.headers["x-api-key"], key);
  return daemon;
}

test(
  "arguments and environment of the daemon, and of the process that reads the keychain, are without the key",
  { skip: noKeyring },
  async (t) => {
    const upstream = await startUpstream(t, respondWithMessage);
    const session = await startSession(t);
    await session.startUnlocked();
    const key = makeSentinel();
    const ref = { name: "default", origin: upstream.origin, source: { kind: "keychain" } } as const;
    await session.storeItem(
      key,
      "xdg:schema",
      SCHEMA,
      "service",
      SERVICE,
      "account",
      `${ref.name}@${ref.origin}`,
    );
    const { DBUS_SESSION_BUS_ADDRESS } = session.env;
    const daemon = await startDaemon(t, {
      config: { upstreams: { default: { baseUrl: upstream.baseUrl } } },
      env: { DBUS_SESSION_BUS_ADDRESS },
    });
    assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
    assert.equal(upstream.seen[0]?.headers["x-api-key"], key);

    await session.freeze();
    // Without busctl the hanging keychain is not noticed first, and keytar's process waits for it.
    setEnvironment(t, { ...session.env, PATH: scratchDirectory(t) });
    const read = assert.rejects(createKeychain({ timeoutMs: 20_000 }).read(ref), { code: "unavailable" });
    const child = await waitForKeytarChild(process.pid);
    assertNowhere(key, describeProcesses());
    // The signal that opens Node's inspector, as early as Node minds it; it has done so long before keytar is at work.
    assert.equal(await catchesSigusr1(child.pid), true);
    process.kill(child.pid, "SIGUSR1");
    await waitForKeytarCall(child.pid);
    assert.deepEqual(listeningPortsOf(child.pid), []);
    process.kill(child.pid, "SIGKILL");
    await read;
  },
);

test("settings under which Node prints or writes out what it holds end the start, and are named", async (t) => {
  await Promise.all([
    assert.rejects(
      startDaemon(t, { env: { NODE_DEBUG: "http" } }),
      /error: under NODE_DEBUG Node would print the key\nhint: unset NODE_DEBUG, and use --debug instead\n/,
    ),
    assert.rejects(
      startDaemon(t, { env: { NODE_OPTIONS: "--heapsnapshot-signal=SIGUSR2" } }),
      /error: under --heapsnapshot-signal Node would write .*\nhint: take --heapsnapshot-signal out of NODE_OPTIONS/,
    ),
  ]);
});

for (const [setting, named] of [
  [{ NODE_DEBUG: "https" }, "NODE_DEBUG"],
  [{ NODE_DEBUG: "tls,net" }, "NODE_DEBUG"],
  [{ NODE_DEBUG: "*" }, "NODE_DEBUG"],
  [{ NODE_DEBUG: "ht*" }, "NODE_DEBUG"],
  // What a key command prints comes through a stream, whose chunks Node shows in hexadecimal.
  [{ NODE_DEBUG: "stream" }, "NODE_DEBUG"],
  [{ NODE_OPTIONS: "--max-old-space-size=100 --heapsnapshot_signal=SIGUSR2" }, "--heapsnapshot-signal"],
  [{ NODE_OPTIONS: "--heapsnapshot-near-heap-limit=1" }, "--heapsnapshot-near-heap-limit"],
  [{ NODE_OPTIONS: "--tls-keylog=/tmp/keys" }, "--tls-keylog"],
] as const) {
  test(`${JSON.stringify(setting)} is refused by its name`, (t) => {
    setEnvironment(t, { NODE_OPTIONS: undefined, NODE_DEBUG: undefined, ...setting });
    assert.throws(
      hardenProcess,
      (error) => error instanceof Failure && error.message.includes(`under ${named} `),
    );
  });
}

test(
  "SIGUSR1 in the first moments of a start, before a listener can be there, ends it",
  { skip: linuxOnly },
  async (t) => {
    const home = scratchDirectory(t);
    // Raised before the program's first line, and waited for until Node has obeyed.
    const early = join(home, "early.cjs");
    writeFileSync(
      early,
      `process.kill(process.pid, "SIGUSR1"); while (require("node:inspector").url() === undefined);`,
    );
    const start = launchDaemon(home, { env: { NODE_OPTIONS: `--inspect-port=0 --require=${early}` } });
    t.after(() => start.kill());
    await assert.rejects(
      start.ready,
      /error: Node's inspector is open.*\nhint: take --inspect out of NODE_OPTIONS/,
    );
  },
);

test("SIGUSR1 to a daemon that runs opens no inspector", async (t) => {
  // A port of its own, so that the answer does not depend on who else has one open.
  const daemon = await startDaemon(t, { env: { NODE_OPTIONS: "--inspect-port=0" } });
  process.kill(daemon.pid, "SIGUSR1");
  await daemon.status();
  assert.equal(await daemon.stop(), 0);
  assert.doesNotMatch(daemon.stderr(), /[Dd]ebugger/);
});

/** Ends a daemon as a bug would; preloaded, since tollkeeper has no such bug to offer. */
const BUGS = {
  "a fatal error": `for (const all = [];;) all.push(new Array(1e5).fill(all.length + 0.5));`,
  "an uncaught exception": `throw new Error("a bug");`,
};

for (const [what, bug] of Object.entries(BUGS)) {
  test(`no diagnostic report is written on a signal, nor at ${what}, although NODE_OPTIONS asks for them`, async (t) => {
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

/** Lets core dumps be written for what it runs. */
const DUMPING = ["/bin/sh", "-c", `ulimit -c unlimited; exec "$0" "$@"`];

test("a core dump of a daemon that holds the key is without it", { skip: linuxOnly }, async (t) => {
  const key = makeSentinel();
  const cwd = scratchDirectory(t);
  // Nothing is found by this PATH, prlimit neither, so that the dump is written: what is in it counts for a piped one, too.
  const env = { PATH: cwd };
  const daemon = await startWithKey(t, key, { cwd, launcher: DUMPING, env });
  const filter = readFileSync(`/proc/${daemon.pid}/coredump_filter`, "utf8");
  process.kill(daemon.pid, "SIGABRT");
  assert.equal(await daemon.ended, null);
  const [core] = readdirSync(cwd).filter((name) => name.startsWith("core"));
  if (core === undefined) {
    t.diagnostic(
      "no core file here (kernel.core_pattern, or the hard limit): only the kernel's filter was looked at",
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

test(
  "where prlimit is installed there is no core dump at all",
  { skip: linuxOnly || noPrlimit },
  async (t) => {
    const daemon = await startDaemon(t, { launcher: DUMPING });
    const limit = () =>
      /^Max core file size\s+(\S+)\s+(\S+)/m
        .exec(readFileSync(`/proc/${daemon.pid}/limits`, "utf8"))
        ?.slice(1);
    // It runs beside the start; nothing tells when it has ended but the limit itself.
    for (let i = 0; i < 500 && limit()?.[0] !== "0"; i += 1) await delay(10);
    assert.deepEqual(limit(), ["0", "0"]);
  },
);
