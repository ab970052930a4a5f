import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { openControlSocket } from "../../../../src/adapters/control-socket.ts";
import { programBuild } from "../../../../src/adapters/program-build.ts";
import { programVersion } from "../../../../src/adapters/program.ts";
import type { AccessStatus, DaemonStatus } from "../../../../src/daemon/status.ts";
import { controlHandlers } from "../../../helpers/daemon/control-handlers.ts";
import { setUpMachine, type Machine, type MachineOptions } from "../../../helpers/daemon/machine.ts";
import { createFakeSystemd, type FakeSystemd } from "../../../helpers/systemd/fake-systemd.ts";
import { freePort } from "../../../helpers/process/free-port.ts";
import { MemoryLog } from "../../../helpers/gate/memory.ts";
import { noKeyring } from "../../../helpers/keychain/keychain-session.ts";
import { ELSEWHERE, LOGIN } from "./keys.ts";
import type { Problem } from "./problem.ts";

/** The configuration of a tool that is connected to tollkeeper. */
const TOOL_FILES = { ".codex/config.toml": 'base_url = "http://127.0.0.1:%PORT%/t/codex/v1"\n' };

const HOLD: DaemonStatus["holds"][number] = {
  kind: "tool",
  name: "nightly",
  keep: 10,
  lift: "tollkeeper brake remove nightly",
  account: "default",
  window: "5h",
  leftPercent: 4,
  resetsAt: new Date(2099, 7, 15, 12).toISOString(),
};

const SPENT: DaemonStatus["budgets"][number] = {
  id: "tools.codex usd day",
  scope: { kind: "tool", name: "codex" },
  limit: { usd: 20 },
  window: { per: "day" },
  action: "refuse",
  warn: [],
  unpriced: "dearest",
  notify: false,
  amount: "20",
  spent: "20.1",
  assumed: "0",
  assumedFor: [],
  reserved: "0",
  percent: 100,
  since: "2026-11-23T00:00:00.000Z",
  until: "2026-11-24T00:00:00.000Z",
  opensAt: "2026-11-24T00:00:00.000Z",
  perHour: "1",
  spentAt: null,
  isWhole: true,
  isLocked: false,
};

/** Problems of the daemon and of its service. */
export const DAEMON_PROBLEMS: Problem[] = [
  {
    name: "the daemon does not run",
    build: (t) => setUpMachine(t, { isStopped: true }),
    finds: [["failure daemon: it is not running", "tollkeeper serve"]],
  },
  {
    name: "the running daemon has an older version",
    build: (t) => withStatus(t, (status) => ({ ...status, version: "0.0.9" })),
    finds: [
      [
        "warning version: the daemon still runs tollkeeper 0.0.9, but this command is version VERSION",
        "tollkeeper service stop, then: tollkeeper serve",
      ],
    ],
  },
  {
    name: "a person has paused a tool",
    build: (t) =>
      withStatus(t, (status) => ({
        ...status,
        pauses: [{ kind: "tool", name: "codex", since: new Date(Date.now() - 7_200_000).toISOString() }],
      })),
    finds: [["warning daemon: codex was paused 2 h ago", "tollkeeper resume codex"]],
  },
  {
    name: "the daemon cannot read a key that this terminal can read",
    build: (t) => withoutKey(t),
    finds: [
      [
        'failure daemon: it cannot read key "default" of upstream default: PROBLEM',
        "this terminal can read it; have the daemon read it again with: tollkeeper key test",
      ],
    ],
  },
  {
    name: "the daemon cannot refresh a key that expires",
    build: (t) =>
      withStatus(t, (status) => {
        const at = new Date(Date.now() - 120_000).toISOString();
        const key = {
          upstream: "default",
          name: "default",
          source: "SOURCE",
          state: "present",
          problem: null,
        };
        const refreshFailure = { at, problem: "PROBLEM" };
        return { ...status, keys: [{ ...key, at, workedAt: at, expiresAt: at, refreshFailure }] };
      }),
    finds: [
      [
        'warning daemon: it could not refresh key "default" of upstream default, which expired 2 min ago, 2 min ago: PROBLEM',
        "tollkeeper key test",
      ],
    ],
  },
  {
    name: "the daemon cannot read a key whose file does not exist",
    build: (t) =>
      withoutKey(t, (baseUrl, keyFile) => ({
        upstreams: { default: { baseUrl, keySource: { file: `${keyFile}-2` } } },
      })),
    finds: [
      [
        "failure keys: key file KEYFILE-2 does not exist",
        'create it with: touch KEYFILE-2 && chmod 600 KEYFILE-2; then write the key into it with an editor; or correct "keySource": tollkeeper config edit',
      ],
      [
        'failure daemon: it cannot read key "default" of upstream default: PROBLEM',
        'follow the fix under "keys" above',
      ],
    ],
  },
  {
    name: "neither the daemon nor this terminal can use the keychain",
    skip: noKeyring,
    build: (t) => withoutKey(t, (baseUrl) => ({ upstreams: { default: { baseUrl } } })),
    finds: [
      ["failure keychain: there is no D-Bus session, which the keychain needs", `${LOGIN}; ${ELSEWHERE}`],
      [
        'failure daemon: it cannot read key "default" of upstream default: PROBLEM',
        'follow the fix under "keychain" above',
      ],
    ],
  },
  {
    name: "a brake keeps what is left of a window",
    build: (t) => withStatus(t, (status) => ({ ...status, holds: [HOLD] })),
    finds: [
      [
        "warning daemon: nightly waits until Saturday 2099-08-15 at 12:00: 4% of the 5-hour window of default is left, and its brake keeps 10%",
        "tollkeeper brake remove nightly",
      ],
    ],
  },
  {
    name: "a budget is spent",
    build: (t) => withStatus(t, (status) => ({ ...status, budgets: [SPENT] })),
    finds: [
      [
        "warning daemon: a budget is spent, and requests are refused: $20.00 per day for tool codex",
        "tollkeeper budget",
      ],
    ],
  },
  {
    name: "the running daemon has another build of the same version",
    build: (t) => withStatus(t, (status) => ({ ...status, build: "0123456789ab" })),
    finds: [
      [
        "warning version: the daemon still runs another build of tollkeeper VERSION than this command",
        "tollkeeper service stop, then: tollkeeper serve",
      ],
    ],
  },
  {
    name: "the daemon listens on another port than the configuration says",
    build: (t) => withStatus(t, (status) => ({ ...status, listening: ["127.0.0.1:1", "[::1]:1"] })),
    finds: [
      [
        "failure port: the daemon listens on 127.0.0.1:1 and [::1]:1, but the configuration has port PORT",
        "tollkeeper service stop, then: tollkeeper serve",
      ],
    ],
  },
  {
    name: "another program has the port on the other loopback address",
    async build(t) {
      const machine = await withStatus(t, (status) => ({
        ...status,
        listening: status.listening.slice(0, 1),
      }));
      const server = createServer().listen(machine.port, "::1");
      t.after(() => server.close());
      await once(server, "listening");
      return machine;
    },
    finds: [
      [
        "failure port: the daemon listens only on 127.0.0.1:PORT; another program receives what tools send to ::1",
        'stop it with: kill PID; or set another "listen.port" with: tollkeeper config edit',
      ],
    ],
  },
  {
    name: "the daemon responds with an error",
    build: (t) =>
      withStatus(t, () => {
        throw new Error("broken");
      }),
    finds: [
      [
        "failure daemon: the daemon does not respond correctly: status 500",
        "see its log: tollkeeper service logs",
      ],
    ],
  },
  {
    name: "the daemon cannot write its records",
    build: (t) => {
      const ledger = {
        directory: "/x",
        written: 1,
        waiting: 2,
        lost: 1,
        lastError: "no space left on device",
        freeBytes: null,
      };
      return withStatus(t, (status) => ({ ...status, ledger }));
    },
    finds: [
      [
        "failure daemon: 2 records not yet written (no space left on device)",
        'follow the fix under "ledger" below; they are then written automatically',
      ],
      [
        "warning daemon: 1 record lost since its start (no space left on device)",
        'follow the fix under "ledger" below; lost records cannot be recovered',
      ],
    ],
  },
  {
    name: "the daemon requires local tokens and none is registered",
    build: (t) => withAccess(t, { registered: 0, leased: 0, problem: null }),
    finds: [
      [
        "failure daemon: local tokens are required, and none is registered",
        "tollkeeper connect TOOL; for a program that connect does not know: tollkeeper token add NAME",
      ],
    ],
  },
  {
    name: "other users can read the token file",
    build: (t) => {
      const problem = { message: "tokens.json is not used: it is open to other users", hint: "chmod 600 it" };
      return withAccess(t, { registered: 0, leased: 0, problem });
    },
    finds: [["failure daemon: tokens.json is not used: it is open to other users", "chmod 600 it"]],
  },
  {
    name: "the service's Node was removed",
    build: (t) => withService(t, { state: "failed", node: "/opt/node-20/bin/node" }, { isStopped: true }),
    finds: [
      [
        "failure daemon: it is not running (failed (exit-code, status 1)): its Node, /opt/node-20/bin/node, no longer exists",
        "tollkeeper service install",
      ],
    ],
  },
  {
    name: "the service has failed for a reason that is gone",
    build: (t) =>
      withService(
        t,
        { state: "failed", log: "error: the configuration is not usable\n" },
        { isStopped: true },
      ),
    finds: [
      [
        "failure daemon: it is not running (failed (exit-code, status 1)): its configuration was invalid, but is valid now",
        "tollkeeper service start",
      ],
    ],
  },
  {
    name: "the daemon does not run and systemd starts it at the first connection",
    build: (t) => withService(t, { state: "waiting" }, { isStopped: true, files: TOOL_FILES }),
    finds: [
      ["warning daemon: it is not running; the first connection starts it", "tollkeeper service start"],
    ],
  },
  {
    name: "the daemon was started manually and not by the service",
    build: (t) => withService(t, { state: "stopped" }, { files: TOOL_FILES }),
    finds: [
      [
        "warning service: it is not running (inactive (dead)): the daemon, pid PID, was started by hand",
        "tollkeeper service stop, then: tollkeeper service start",
      ],
    ],
  },
  {
    name: "the service does not start at login",
    build: (t) => withService(t, { isEnabled: false }),
    finds: [["warning service: it does not start at login", "tollkeeper service install"]],
  },
  {
    name: "the port was changed in the configuration but not in the socket unit",
    async build(t) {
      const OLD = await freePort();
      return setUpMachine(t, { programs: createFakeSystemd(t, { port: OLD }), names: { OLD: String(OLD) } });
    },
    finds: [
      [
        "failure service: its socket has port OLD, but the configuration has port PORT",
        "tollkeeper service install",
      ],
    ],
  },
];

async function withService(
  t: TestContext,
  systemd: Omit<FakeSystemd, "port">,
  more: MachineOptions = {},
): Promise<Machine> {
  const port = await freePort();
  return setUpMachine(t, { port, programs: createFakeSystemd(t, { port, ...systemd }), ...more });
}

/** Sets up a daemon in token mode whose tokens have this status. */
function withAccess(t: TestContext, tokens: AccessStatus["tokens"]): Promise<Machine> {
  return withStatus(t, (status) => ({ ...status, access: { mode: "token", peerUid: [], tokens } }));
}

/** A daemon that cannot read the key "default" of upstream default, which is stored where the configuration says. */
function withoutKey(t: TestContext, config?: (baseUrl: string, keyFile: string) => object): Promise<Machine> {
  const key = {
    upstream: "default",
    name: "default",
    source: "SOURCE",
    at: null,
    workedAt: null,
    expiresAt: null,
    refreshFailure: null,
  };
  const keys = [{ ...key, state: "unavailable", problem: "PROBLEM" }];
  return withStatus(t, (status) => ({ ...status, keys }), config);
}

/** Sets up a daemon whose status is changed from that of a healthy one. */
async function withStatus(
  t: TestContext,
  change: (real: DaemonStatus) => DaemonStatus,
  config: (baseUrl: string, keyFile: string) => object = () => ({}),
): Promise<Machine> {
  const machine = await setUpMachine(t, {
    isStopped: true,
    config,
    names: { PID: String(process.pid), VERSION: programVersion() },
  });
  const now = new Date().toISOString();
  const status: DaemonStatus = {
    at: now,
    version: programVersion(),
    build: programBuild(),
    pid: process.pid,
    startedAt: now,
    state: "serving",
    listening: [`127.0.0.1:${machine.port}`, `[::1]:${machine.port}`],
    socket: null,
    access: { mode: "open", peerUid: [], tokens: { registered: 0, leased: 0, problem: null } },
    upstreams: [],
    groups: [],
    budgets: [],
    lifts: [],
    limits: [],
    holds: [],
    pauses: [],
    captures: [],
    refused: { codes: {}, checks: 0, newest: null },
    outbound: [],
    keys: [],
    config: {
      path: machine.configFile,
      exists: true,
      managed: null,
      loadedAt: now,
      judgedAt: now,
      problems: [],
      overruled: [],
    },
    ledger: { directory: "", written: 0, waiting: 0, lost: 0, lastError: null, freeBytes: null },
    export: null,
    openExchanges: 0,
    bufferedBytes: 0,
    lastError: null,
  };
  const handlers = controlHandlers({ status: () => change(status) });
  const path = join(machine.home, "run", "tollkeeper", "control.sock");
  const control = await openControlSocket(path, handlers, new MemoryLog());
  t.after(() => control.close());
  return machine;
}
