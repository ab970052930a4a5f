// E8, files that others may write: what decides where a key goes, and what the daemon runs and relies on, is not used while anybody else
// could change it, or put something else in its place: as a member of a group, through a directory or a link on its path. The group that
// only its user is in is no danger.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { launchDaemon, type Daemon, type DaemonOptions } from "../helpers/daemon/daemon.ts";
import { startDaemonWithUpstream } from "../helpers/daemon/daemon-with-upstream.ts";
import { usualConfigFile } from "../helpers/config/config-file.ts";
import { post } from "../helpers/gate/gate.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import {
  ALICE,
  asMallory,
  DEVS,
  letMalloryWrite,
  noSharedGroup,
  sharedMachine,
  type SharedMachine,
} from "../helpers/process/shared-group.ts";
import { makeCertificate } from "../helpers/upstream/certificate.ts";
import { respondWithMessage, startUpstream } from "../helpers/upstream/scripted-upstream.ts";

const skip = noSharedGroup;

/** Lets the group `devs`, which mallory is in, write to a file or a directory. */
function share(path: string): void {
  fs.chownSync(path, -1, DEVS);
  fs.chmodSync(path, fs.statSync(path).mode | 0o070);
}

/** Starts a daemon in a home that the test has prepared. It ends with the test. */
async function start(t: TestContext, home: string, options: DaemonOptions): Promise<Daemon> {
  const { ready, kill } = launchDaemon(home, options);
  t.after(kill);
  return ready;
}

function write({ configFile }: Daemon, config: object): void {
  fs.writeFileSync(configFile, JSON.stringify({ ...config, listen: { port: 0 } }));
}

/** Asserts that no daemon starts in this home, and that the message says who could change what, and what to type. */
async function assertRefused(
  t: TestContext,
  home: string,
  options: DaemonOptions,
  { who, fix }: { who: RegExp; fix: string },
): Promise<void> {
  await assert.rejects(start(t, home, options), (error: Error) => {
    assert.match(error.message, who);
    assert.ok(error.message.includes(`hint: ${fix}\n`), error.message);
    return true;
  });
}

test(
  "a running daemon does not use the configuration that a member of the file's group has written: no key goes there, no command runs",
  { skip },
  async (t) => {
    const { launcher } = sharedMachine(t);
    const { upstream, daemon } = await startDaemonWithUpstream(t, respondWithMessage, { launcher });
    const theirs = await startUpstream(t, respondWithMessage);
    const proof = join(daemon.home, "proof");
    fs.chmodSync(daemon.home, 0o711);
    share(daemon.configFile);
    const { path } = writeKeyFile(t, theirs.baseUrl, "some-key");
    const upstreams = {
      file: { baseUrl: theirs.baseUrl, apis: ["messages"], keySource: { file: path } },
      command: { baseUrl: theirs.baseUrl, keySource: { command: ["touch", proof] } },
    };
    asMallory('printf %s "$2" > "$1"', daemon.configFile, JSON.stringify({ upstreams }));
    await daemon.waitForOutput(
      /still using the old one: .*users of the group devs, such as mallory, can change it; fix: chmod g-w \/.*config\.jsonc/,
    );
    assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
    assert.deepEqual([upstream.seen.length, theirs.seen.length, fs.existsSync(proof)], [1, 0, false]);
    assert.equal(await daemon.stop(), 0);
    await assertRefused(
      t,
      daemon.home,
      { launcher, config: fs.readFileSync(daemon.configFile, "utf8") },
      {
        who: /users of the group devs, such as mallory, can change it\n/,
        fix: `chmod g-w ${daemon.configFile}`,
      },
    );
  },
);

test(
  "a configuration that has become trustworthy again, by its directory alone, is used without being written again",
  { skip },
  async (t) => {
    const { launcher } = sharedMachine(t);
    const { upstream, daemon } = await startDaemonWithUpstream(t, respondWithMessage, { launcher });
    const other = await startUpstream(t, respondWithMessage);
    share(daemon.home);
    write(daemon, writeKeyFile(t, other.baseUrl, "some-key").config);
    await daemon.waitForOutput(
      /still using the old one: .*devs, such as mallory, can replace it: the group can write to \/.*; fix: chmod g-w \//,
    );
    fs.chmodSync(daemon.home, 0o700);
    await daemon.waitForOutput(/the new configuration is in force/);
    assert.equal((await post(daemon, "/v1/messages", {})).status, 200);
    assert.deepEqual([upstream.seen.length, other.seen.length], [0, 1]);
  },
);

/** What a daemon relies on, below its home; `share` is what the group can write to, and `named` what the message names. */
interface Relied {
  what: string;
  prepare(t: TestContext, home: string): { share: string; options?: DaemonOptions };
  verb: "change" | "replace";
  name: RegExp;
}

function directory(...names: string[]): string {
  const path = join(...names);
  fs.mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
}

const RELIED: Relied[] = [
  {
    what: "the directory of the configuration",
    prepare: (_t, home) => ({ share: home }),
    verb: "replace",
    name: /it/,
  },
  {
    what: "the directory of a link on the path of outbound.caFile",
    prepare(t, home) {
      const [real, links, open] = ["real", "links", "open"].map((name) => directory(home, name));
      fs.copyFileSync(makeCertificate(t, "DNS:a.invalid").file, join(real ?? "", "ca.pem"));
      fs.symlinkSync(real ?? "", join(open ?? "", "link"));
      fs.symlinkSync("../open/link", join(links ?? "", "link"));
      const caFile = join(links ?? "", "link", "ca.pem");
      return { share: open ?? "", options: { config: { outbound: { caFile } } } };
    },
    verb: "replace",
    name: /it/,
  },
  {
    what: "outbound.caFile",
    prepare(t, home) {
      const caFile = join(home, "ca.pem");
      fs.copyFileSync(makeCertificate(t, "DNS:a.invalid").file, caFile);
      return { share: caFile, options: { config: { outbound: { caFile } } } };
    },
    verb: "change",
    name: /it/,
  },
  {
    what: "the file of NODE_EXTRA_CA_CERTS",
    prepare(t, home) {
      const extra = join(home, "extra.pem");
      fs.copyFileSync(makeCertificate(t, "DNS:a.invalid").file, extra);
      return { share: extra, options: { env: { NODE_EXTRA_CA_CERTS: extra } } };
    },
    verb: "change",
    name: /\/.*extra\.pem, which NODE_EXTRA_CA_CERTS names,/,
  },
  {
    what: "the directory of the state, with tokens, pauses and resets of budgets",
    prepare: (_t, home) => ({ share: directory(home, "state", "tollkeeper") }),
    verb: "change",
    name: /the directory of tollkeeper's state, \/.*/,
  },
  {
    what: "a directory above that of the state",
    prepare: (_t, home) => ({ share: directory(home, "state") }),
    verb: "replace",
    name: /the directory of tollkeeper's state, \/.*/,
  },
  {
    what: "a directory above the ledger",
    prepare(_t, home) {
      const above = directory(home, "records");
      return { share: above, options: { config: { ledger: { directory: join(above, "ledger") } } } };
    },
    verb: "replace",
    name: /the ledger directory \/.*/,
  },
  {
    what: "a directory above the control socket",
    prepare: (_t, home) => ({ share: directory(home, "run") }),
    verb: "replace",
    name: /the directory of the control socket, \/.*/,
  },
  {
    what: "a directory above listen.socket",
    prepare(_t, home) {
      const above = directory(home, "sockets");
      return { share: above, options: { config: { listen: { socket: join(above, "own", "s.sock") } } } };
    },
    verb: "replace",
    name: /the directory of "listen\.socket", \/.*/,
  },
];

for (const { what, prepare, verb, name } of RELIED) {
  test(
    `no daemon starts while members of a group can write to ${what}, and the message names one of them and the command`,
    { skip },
    async (t) => {
      const { launcher } = sharedMachine(t);
      const home = scratchDirectory(t);
      const { share: place, options } = prepare(t, home);
      share(place);
      const who = new RegExp(`users of the group devs, such as mallory, can ${verb} ${name.source}[:\n]`);
      await assertRefused(t, home, { launcher, ...options }, { who, fix: `chmod g-w ${place}` });
      fs.chmodSync(place, fs.statSync(place).mode & ~0o022 & 0o7777);
      await start(t, home, { launcher, ...options });
    },
  );
}

/** A home whose configuration and directories the group of their owner can write to, as under the umask 002. */
function looseHome(t: TestContext): string {
  const home = scratchDirectory(t);
  fs.chmodSync(home, 0o775);
  const file = usualConfigFile(home, "config");
  fs.writeFileSync(file, "{}");
  fs.chmodSync(file, 0o664);
  return home;
}

test(
  "the group that only its user is in may write: that is the umask 002 of many systems",
  { skip },
  async (t) => {
    const { asAlice } = sharedMachine(t);
    const daemon = await start(t, looseHome(t), { launcher: asAlice });
    assert.equal(fs.statSync(daemon.configFile).mode & 0o777, 0o664);
    assert.deepEqual((await daemon.status()).config.problems, []);
  },
);

test("a group whose members a directory service may know may not write", { skip }, async (t) => {
  const machine = sharedMachine(t);
  machine.setAccount("group", "alice");
  machine.setAccount("group", "crew", `crew:x:${ALICE}:`);
  const home = looseHome(t);
  const names = join(dirname(machine.directory), "nsswitch.conf");
  const who = /users of the group crew may be able to replace it/;
  for (const line of ["group: files [SUCCESS=merge] sss", "group: files\ninitgroups: files ldap"]) {
    fs.writeFileSync(names, `passwd: files\n${line}\n`);
    await assertRefused(t, home, { launcher: machine.asAlice }, { who, fix: `chmod g-w ${home}` });
  }
  fs.writeFileSync(names, "passwd: files\ngroup: files\n");
  await start(t, home, { launcher: machine.asAlice });
});

/** What makes somebody else a member of alice's own group, or leaves open whether somebody is. */
const STRANGERS: [what: string, invite: (machine: SharedMachine) => void, who: RegExp][] = [
  [
    "the group lists somebody else",
    ({ setAccount }) => setAccount("group", "alice", `alice:x:${ALICE}:alice,mallory`),
    /users of the group alice, such as mallory, can replace it/,
  ],
  [
    "it is the primary group of somebody else",
    ({ setAccount }) => setAccount("passwd", "eve", `eve:x:54340:${ALICE}::/nonexistent:/bin/sh`),
    /users of the group alice, such as eve, can replace it/,
  ],
  [
    "another group has the same number, and lists somebody else",
    ({ setAccount }) => {
      setAccount("group", "crew", `crew:x:${ALICE}:mallory`);
      // The system names the first.
      setAccount("group", "alice", `alice:x:${ALICE}:`);
    },
    /users of the group alice, such as mallory, can replace it/,
  ],
  [
    "the system does not know the group",
    ({ setAccount }) => setAccount("group", "alice"),
    new RegExp(`users of the group ${ALICE} may be able to replace it`),
  ],
];

for (const [what, invite, who] of STRANGERS) {
  test(`a user's own group may not write where ${what}`, { skip }, async (t) => {
    const machine = sharedMachine(t);
    invite(machine);
    const home = looseHome(t);
    await assertRefused(t, home, { launcher: machine.asAlice }, { who, fix: `chmod g-w ${home}` });
  });
}

test(
  "a file that an access control list opens is refused, although nobody is in its group",
  { skip },
  async (t) => {
    const { asAlice } = sharedMachine(t);
    const home = looseHome(t);
    fs.chmodSync(home, 0o755);
    const file = usualConfigFile(home, "config");
    if (!letMalloryWrite(file)) {
      t.skip("needs python3 and a file system with access control lists");
      return;
    }
    const who = /other users may be able to change it: the access control list of \/.* lets somebody write/;
    await assertRefused(t, home, { launcher: asAlice }, { who, fix: `chmod g-w ${file}` });
  },
);

test(
  "a state file of the daemon that others can write to is not read",
  { skip: process.getuid?.() !== 0 && "needs root" },
  async (t) => {
    const home = scratchDirectory(t);
    const pauses = join(directory(home, "state", "tollkeeper"), "pauses.json");
    const first = await start(t, home, {});
    assert.equal((await first.command("pause", "codex")).code, 0);
    assert.equal(await first.stop(), 0);
    fs.chmodSync(pauses, 0o664);
    const second = await start(t, home, {});
    await second.waitForOutput(/other users can change it/);
  },
);

test(
  "doctor and config check name who could change the configuration, a key command, and what doctor alone examines",
  { skip },
  async (t) => {
    const machine = sharedMachine(t);
    const { launcher } = machine;
    const { daemon } = await startDaemonWithUpstream(t, respondWithMessage, { launcher });
    const command = (...args: string[]) =>
      machine.command(daemon.env, ...args, "--config", daemon.configFile);
    const tool = join(daemon.home, "print key");
    fs.writeFileSync(tool, "#!/bin/sh\necho some-key\n", { mode: 0o700 });
    const upstream = { baseUrl: "http://127.0.0.1:9/v1", keySource: { command: [tool] } };
    write(daemon, { upstreams: { default: upstream } });
    await daemon.waitForOutput(/the new configuration is in force/);
    share(tool);
    share(join(daemon.home, "state"));
    const check = await command("config", "check");
    assert.equal(check.code, 1);
    assert.match(
      check.stdout,
      /keySource: is not used: users of the group devs, such as mallory, can change what the command runs/,
    );
    assert.ok(check.stdout.includes(`chmod g-w '${tool}'`), check.stdout);
    const doctor = await command("doctor");
    assert.ok(doctor.stdout.includes(`-> chmod g-w '${tool}'`), doctor.stdout);
    assert.ok(doctor.stdout.includes(`chmod g-w ${join(daemon.home, "state")}`), doctor.stdout);
    share(daemon.configFile);
    for (const args of [["doctor"], ["config", "check"]]) {
      const { code, stdout } = await command(...args);
      assert.equal(code, 1);
      assert.match(stdout, /users of the group devs, such as mallory, can change it/);
      assert.ok(stdout.includes(`chmod g-w ${daemon.configFile}`), stdout);
    }
  },
);
