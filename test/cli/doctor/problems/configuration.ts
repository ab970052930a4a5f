import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { TestContext } from "node:test";
import { describeHolder } from "../../../../src/adapters/port-holder.ts";
import { setUpMachine } from "../../../helpers/daemon/machine.ts";
import { freePort } from "../../../helpers/process/free-port.ts";
import { noKeyring, startUnlockedSession } from "../../../helpers/keychain/keychain-session.ts";
import type { Problem } from "./problem.ts";

const NOT_RUNNING: [string, string] = ["failure daemon: it is not running", "tollkeeper serve"];

/** Problems of Node's settings, of the configuration, and of the port in it. */
export const CONFIGURATION_PROBLEMS: Problem[] = [
  {
    name: "Node's inspector is switched on",
    build: (t) => setUpMachine(t, { env: { NODE_OPTIONS: "--inspect=0" } }),
    finds: [
      [
        "failure node: Node's inspector is open, and would show the key to anyone who connects; the daemon refuses to start with this setting",
        "remove --inspect from NODE_OPTIONS and from node's arguments, and start again",
      ],
    ],
  },
  {
    name: "certificates are not to be verified",
    build: (t) => setUpMachine(t, { env: { NODE_TLS_REJECT_UNAUTHORIZED: "0" } }),
    finds: [
      [
        "warning node: NODE_TLS_REJECT_UNAUTHORIZED is ignored: certificates are always verified",
        "unset NODE_TLS_REJECT_UNAUTHORIZED",
      ],
    ],
  },
  {
    name: "the configuration has an unknown key and a bad value, and no daemon runs",
    build: (t) =>
      setUpMachine(t, { config: () => ({ portt: 1, ledger: { retainDays: 0 } }), isStopped: true }),
    finds: [
      [
        "failure configuration: ~/config/tollkeeper/config.jsonc:1: ledger.retainDays: must be at least 1",
        "tollkeeper config edit",
      ],
      [
        'failure configuration: ~/config/tollkeeper/config.jsonc:1: portt: unknown key "portt"; known here: $schema, listen, access, upstreams, tools, plans, planLogins, groups, projects, keys, budgets, aliases, prices, priceTable, outbound, ledger, export, abort, limits, serviceLimits, capture, outliers',
        "tollkeeper config edit",
      ],
      NOT_RUNNING,
    ],
  },
  {
    name: "the configuration is broken while the daemon runs",
    async build(t) {
      const machine = await setUpMachine(t);
      writeFileSync(machine.configFile, "{");
      await machine.daemon?.waitForOutput(/cannot be applied/);
      return machine;
    },
    finds: [
      [
        'failure configuration: ~/config/tollkeeper/config.jsonc:1: a "}" is missing',
        "tollkeeper config edit",
      ],
      ["failure daemon: it still uses the previous configuration", "tollkeeper config edit"],
    ],
  },
  {
    name: "no upstream is configured",
    skip: noKeyring,
    async build(t) {
      const session = await startUnlockedSession(t);
      return setUpMachine(t, { config: () => ({ upstreams: {} }), session: session.busEnv });
    },
    finds: [
      [
        "warning configuration: ~/config/tollkeeper/config.jsonc names no upstream: the built-in sandbox makes up the responses",
        "tollkeeper setup",
      ],
    ],
  },
  {
    name: "the port in the configuration was changed to one that another program has",
    async build(t) {
      const taken = await occupiedPort(t);
      const machine = await setUpMachine(t, {
        names: { TAKEN: String(taken), HOLDER: describeHolder(taken), SELF: String(process.pid) },
      });
      const text = readFileSync(machine.configFile, "utf8");
      writeFileSync(machine.configFile, text.replace(String(machine.port), String(taken)));
      await machine.daemon?.waitForOutput(/cannot be applied/);
      return machine;
    },
    finds: [
      [
        "failure daemon: it still uses the previous configuration: ~/config/tollkeeper/config.jsonc: port TAKEN is taken by HOLDER",
        'stop it with: kill SELF; or set another "listen.port" with: tollkeeper config edit',
      ],
    ],
  },
  {
    name: "the daemon does not run, and another program has its port",
    async build(t) {
      const port = await occupiedPort(t);
      const names = { HOLDER: describeHolder(port), SELF: String(process.pid) };
      return setUpMachine(t, { port, isStopped: true, names });
    },
    finds: [
      NOT_RUNNING,
      [
        "failure port: tollkeeper is not running, and its port PORT is taken by HOLDER, which receives what tools send",
        'stop it with: kill SELF; or set another "listen.port" with: tollkeeper config edit',
      ],
    ],
  },
];

async function occupiedPort(t: TestContext): Promise<number> {
  const port = await freePort();
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return port;
}
