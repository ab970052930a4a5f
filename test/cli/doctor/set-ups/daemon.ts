import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { openControlSocket } from "../../../../src/adapters/control-socket.ts";
import { holderOf } from "../../../../src/cli/port-holder.ts";
import type { DaemonStatus } from "../../../../src/cli/status-report.ts";
import { controlHandlers } from "../../../helpers/control-handlers.ts";
import { setUp, type SetUp } from "../../../helpers/doctor.ts";
import { fakeSystemd, type FakeSystemd } from "../../../helpers/fake-systemd.ts";
import { freePort } from "../../../helpers/free-port.ts";
import { noKeyring } from "../../../helpers/keyring.ts";
import { MemoryLog } from "../../../helpers/memory.ts";
import type { BrokenSetUp } from "./broken.ts";

const NOT_RUNNING: [string, string] = [
  "failure daemon: it is not running",
  "tollkeeper serve --config HOME/config.jsonc",
];

/** What is wrong with the program, its configuration, the daemon, its port and its service. */
export const DAEMON_SET_UPS: BrokenSetUp[] = [
  {
    name: "Node's inspector is switched on",
    build: (t) => setUp(t, { env: { NODE_OPTIONS: "--inspect=0" } }),
    finds: [
      [
        "failure node: Node's inspector is open, and would show the key to whoever connects to it; the daemon would not start like this",
        "take --inspect out of NODE_OPTIONS and of node's own arguments, and start again",
      ],
    ],
  },
  {
    name: "certificates are not to be verified",
    build: (t) => setUp(t, { env: { NODE_TLS_REJECT_UNAUTHORIZED: "0" } }),
    finds: [
      [
        "warning node: NODE_TLS_REJECT_UNAUTHORIZED is ignored: certificates are always verified",
        "unset NODE_TLS_REJECT_UNAUTHORIZED",
      ],
    ],
  },
  {
    name: "the configuration has an unknown key and a bad value, and no daemon runs",
    build: (t) => setUp(t, { config: () => ({ portt: 1, ledger: { retainDays: 0 } }), isStopped: true }),
    finds: [
      [
        'failure configuration: ~/config.jsonc:1: portt: unknown key "portt"; known here: $schema, listen, upstreams, tools, ledger, abort, limits, outbound',
        "tollkeeper config edit --config HOME/config.jsonc",
      ],
      [
        "failure configuration: ~/config.jsonc:1: ledger.retainDays: must be a whole number, at least 1",
        "tollkeeper config edit --config HOME/config.jsonc",
      ],
      NOT_RUNNING,
    ],
  },
  {
    name: "the configuration is broken while the daemon runs",
    async build(t) {
      const machine = await setUp(t);
      writeFileSync(machine.configFile, "{");
      await machine.daemon?.until(/is not accepted/);
      return machine;
    },
    finds: [],
  },
  {
    name: "no upstream is configured",
    skip: noKeyring,
    build: (t) => setUp(t, { config: () => ({ upstreams: {} }) }),
    finds: [],
  },
  {
    name: "the daemon does not run",
    build: (t) => setUp(t, { isStopped: true }),
    finds: [NOT_RUNNING],
  },
  {
    name: "the daemon does not run, and another program has its port",
    async build(t) {
      const port = await occupiedPort(t);
      return setUp(t, { port, isStopped: true, names: { HOLDER: holderOf(port) } });
    },
    finds: [
      NOT_RUNNING,
      [
        "failure port: tollkeeper is not running, and its port PORT is taken by HOLDER, who gets what tools send",
        "see who listens with: ss -ltnp 'sport = :PORT'; then stop it, or set another \"listen.port\" with: tollkeeper config edit",
      ],
    ],
  },
  {
    name: "the configuration was given a port that another program has",
    async build(t) {
      const taken = await occupiedPort(t);
      const machine = await setUp(t, { names: { TAKEN: String(taken), HOLDER: holderOf(taken) } });
      writeFileSync(machine.configFile, `{ "listen": { "port": ${taken} } }`);
      await machine.daemon?.until(/is not accepted/);
      return machine;
    },
    finds: [],
  },
  {
    name: "the daemon that runs is an older one",
    build: (t) => withStatus(t, (status) => ({ ...status, version: "0.0.9" })),
    finds: [],
  },
  {
    name: "the daemon hangs, or fails to answer",
    build: (t) =>
      withStatus(t, () => {
        throw new Error("broken");
      }),
    finds: [],
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
      };
      return withStatus(t, (status) => ({ ...status, ledger }));
    },
    finds: [],
  },
  {
    name: "the service's Node has vanished",
    build: (t) => withService(t, { state: "failed", node: "/opt/node-20/bin/node" }),
    finds: [],
  },
  {
    name: "the service fails, and its log says why",
    build: (t) => withService(t, { state: "failed", log: "error: the configuration is not usable\n" }),
    finds: [],
  },
  {
    name: "the service does not start at login",
    build: (t) => withService(t, { isEnabled: false }),
    finds: [],
  },
  {
    name: "the port was changed, and the socket unit was not",
    async build(t) {
      const OLD = await freePort();
      return setUp(t, { programs: fakeSystemd(t, { port: OLD }), names: { OLD: String(OLD) } });
    },
    finds: [],
  },
];

async function occupiedPort(t: TestContext): Promise<number> {
  const port = await freePort();
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return port;
}

async function withService(t: TestContext, systemd: Omit<FakeSystemd, "port">): Promise<SetUp> {
  const port = await freePort();
  const isStopped = systemd.state === "failed" ? ({ isStopped: true } as const) : {};
  return setUp(t, { port, programs: fakeSystemd(t, { port, ...systemd }), ...isStopped });
}

/** A daemon that says what a real one would not. */
async function withStatus(t: TestContext, change: (real: DaemonStatus) => DaemonStatus): Promise<SetUp> {
  const machine = await setUp(t, { isStopped: true, names: { PID: String(process.pid) } });
  const now = new Date().toISOString();
  const status: DaemonStatus = {
    at: now,
    version: "",
    pid: process.pid,
    startedAt: now,
    state: "serving",
    listening: [`127.0.0.1:${machine.port}`, `[::1]:${machine.port}`],
    upstreams: [],
    keys: [],
    config: { path: machine.configFile, exists: true, loadedAt: now, problems: [] },
    ledger: { directory: "", written: 0, waiting: 0, lost: 0, lastError: null },
    openExchanges: 0,
    lastError: null,
  };
  const handlers = controlHandlers({ status: () => change(status) });
  const path = join(machine.home, "run", "tollkeeper", "control.sock");
  const control = await openControlSocket(path, handlers, new MemoryLog());
  t.after(() => control.close());
  return machine;
}
