import assert from "node:assert/strict";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { configWith, configWithKeySource, KEY_FILE } from "../keyed-upstream.ts";
import { CONFIG, PORT, service } from "../service.ts";
import { SERVICE_USER } from "../service-user.ts";
import { INSTALL, shell, START, startUntilRefused, waitForStatus, type BrokenSetup } from "./setup.ts";

const { home } = SERVICE_USER;
const STATE = `${home}/.local/state/tollkeeper`;
const GOOD = `${home}/good.jsonc`;

async function breakConfiguration(): Promise<void> {
  service.ownFile(GOOD, configWith({}));
  service.ownFile(CONFIG, "{ nope");
  await startUntilRefused();
}

async function loseCredential(): Promise<void> {
  service.ownFile(CONFIG, configWithKeySource({ credential: "example" }));
  await shell(`mv ${KEY_FILE} ${KEY_FILE}.away`);
  await service.override("LoadCredential=example:%h/.keys/example");
  await startUntilRefused();
}

/** Has another program of the user listen on the port while the service is stopped. */
async function takePort(): Promise<void> {
  await service.mustRun("service", "stop");
  const program = `require("net").createServer().listen(${PORT}, "127.0.0.1")`;
  await shell(`setsid node -e '${program}' </dev/null >/dev/null 2>&1 & echo $! > ${home}/holder`);
  await waitUntil("the port to be taken", async () => {
    const { stdout } = await service.container.root("ss", "-Hltn", `sport = :${PORT}`);
    return stdout === "" ? null : true;
  });
  await startUntilRefused();
}

/** The configuration, keys, the port, directories and sockets. */
export const BROKEN_SURROUNDINGS: readonly BrokenSetup[] = [
  {
    what: "a broken configuration, with which systemd has given up",
    breaks: breakConfiguration,
    edit: `cat ${GOOD} > "$1"`,
    says: /its configuration is invalid/,
    typed: ["tollkeeper config edit", START],
  },
  {
    what: "a configuration that was corrected after systemd had given up",
    async breaks() {
      await breakConfiguration();
      await shell(`cp ${GOOD} ${CONFIG}`);
    },
    says: /its configuration was invalid, but is valid now/,
    typed: [START],
  },
  {
    what: "a configuration file of its own that was deleted, with which systemd has given up",
    async breaks() {
      service.ownFile(GOOD, configWith({}));
      await service.mustRun("service", "install", "--config", GOOD);
      await shell(`rm ${GOOD}`);
      await startUntilRefused();
    },
    edit: `cat ${CONFIG} > "$1"`,
    says: /its configuration file does not exist/,
    typed: [`tollkeeper config edit --config ${GOOD}`, START, `${INSTALL} --config ${CONFIG}`],
  },
  {
    what: "a credential whose file is gone",
    breaks: loseCredential,
    says: /credential example cannot be read: .*\/\.keys\/example does not exist \(LoadCredential= in .*test\.conf\)/,
    typed: [`write the key into ${KEY_FILE}`, START],
    acts: { "write the key into": () => shell(`cp ${KEY_FILE}.away ${KEY_FILE}`) },
  },
  {
    what: "a credential whose file is back after systemd had given up",
    async breaks() {
      await loseCredential();
      await shell(`mv ${KEY_FILE}.away ${KEY_FILE}`);
    },
    says: /a credential could not be read/,
    typed: [START],
  },
  {
    what: "a port that another program has taken",
    breaks: takePort,
    says: /its port is taken by another program/,
    typed: ["kill PID", START],
  },
  {
    what: "a port that is free again after systemd had given up",
    async breaks() {
      await takePort();
      await shell(`kill $(cat ${home}/holder)`);
    },
    says: /its port was taken by another program, but is free now/,
    typed: [START],
  },
  {
    what: "a service that is stopped while its socket listens, which no look at it starts",
    async breaks() {
      await service.systemctl("stop", "tollkeeper.service");
      for (const words of [["status"], ["service", "status"], ["doctor"]]) await service.tollkeeper(...words);
      const { stderr } = await service.tollkeeper("status");
      assert.match(stderr, /systemd starts it at the first connection to port 8655\nhint: .*service start$/m);
      assert.equal(await service.property("ActiveState"), "inactive");
    },
    says: /it is not running; the first connection starts it/,
    typed: [START],
  },
  {
    what: "a service that was installed with another configuration",
    async breaks() {
      service.ownFile(GOOD, configWith({}));
      await service.mustRun("service", "install", "--config", GOOD);
    },
    says: /it was started with another configuration, ~\/good\.jsonc/,
    typed: [`${INSTALL} --config ${CONFIG}`],
  },
  {
    what: "a configuration directory that is closed to its owner",
    async breaks() {
      await shell(`chmod 000 ${home}/.config/tollkeeper`);
      await waitForStatus(/not accepted .*permission denied/);
    },
    says: /permission denied/,
    typed: [`chmod u+rwx ${home}/.config/tollkeeper`],
  },
  {
    what: "a configuration directory that was away for a moment, without anything typed",
    async breaks() {
      await shell(`mv ${home}/.config/tollkeeper ${home}/away`);
      await waitForStatus(/not accepted .*the file no longer exists/);
      await shell(`mv ${home}/away ${home}/.config/tollkeeper`);
      service.ownFile(CONFIG, configWith({ access: { mode: "token" } }));
      await waitForStatus(/access +local token required/);
      service.ownFile(CONFIG, configWith({}));
      await waitForStatus(/access +open/);
    },
    says: /^$/,
    typed: [],
  },
  {
    what: "a key command that is only on the person's PATH",
    async breaks() {
      await shell(`mkdir -p ${home}/bin; printf '#!/bin/sh\\ncat ${KEY_FILE}\\n' > ${home}/bin/print-key`);
      await shell(`chmod 755 ${home}/bin/print-key`);
      service.ownFile(CONFIG, configWithKeySource({ command: ["print-key"] }));
      await waitForStatus(/command print-key/);
      assert.equal(await service.requestStatus(), 400);
    },
    path: `${home}/bin:`,
    says: /the service cannot find print-key, .*: it is .*\/bin\/print-key, but the service searches /,
    typed: [`tollkeeper config set 'upstreams.default.keySource.command[0]' ${home}/bin/print-key`],
  },
  {
    what: "a control socket that somebody has removed, without anything typed",
    breaks: () => shell(`rm ${SERVICE_USER.runtime}/tollkeeper/control.sock`),
    says: /its control socket is gone|^$/,
    typed: [],
  },
  {
    what: "a ledger that the configuration has moved out of the sandbox",
    async breaks() {
      service.ownFile(CONFIG, configWith({ ledger: { directory: `${home}/elsewhere/ledger` } }));
      await waitForStatus(/not accepted .*cannot create the ledger directory/);
    },
    says: /it still uses the previous configuration: .*cannot create the ledger directory/,
    typed: [INSTALL],
  },
  {
    what: "a state directory that was moved away under the daemon",
    async breaks() {
      await shell(`mv ${STATE} ${home}/moved`);
      assert.equal(await service.requestStatus(), 200);
      await waitForStatus(/1 waiting/);
    },
    says: /1 record not yet written/,
    typed: [INSTALL],
  },
  {
    what: "a state directory that was moved away while the service was stopped",
    async breaks() {
      await service.mustRun("service", "stop");
      await shell(`rm -rf ${home}/moved; mv ${STATE} ${home}/moved`);
      await startUntilRefused();
    },
    says: /its sandbox cannot be set up: .*a directory that it names is gone/,
    typed: [INSTALL],
  },
];
