import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { waitUntil } from "../async/wait-until.ts";
import { freePort } from "../process/free-port.ts";
import { scratchDirectory } from "../process/scratch-directory.ts";

const SSHD = "/usr/sbin/sshd";

/** The reason why no ssh server can run here, for `test(..., { skip })`; false when one can. */
export const noSshd: string | false = existsSync(SSHD)
  ? false
  : "not installed: sshd (apt-get install openssh-server)";

/** The reason why an ssh server cannot give a terminal here, for `test(..., { skip })`; false when it can. */
export const noSshTerminal: string | false = noSshd || reasonAgainstTerminal();

/** Only root may give a new terminal to the group `tty`, as sshd does where the system has not. */
function reasonAgainstTerminal(): string | false {
  if (process.getuid?.() === 0) return false;
  const { stdout } = spawnSync("script", ["-qec", 'stat -c %G "$(tty)"', "/dev/null"], { encoding: "utf8" });
  return stdout?.trim() === "tty" ? false : "needs root, as /dev/pts is not mounted for the group tty here";
}

/** An ssh server of our own on loopback, with keys of its own. */
export interface SshServer {
  /** Opens a forwarding, e.g. `["-R", "9000:127.0.0.1:8655"]`, until the test ends. Resolves once `isOpen` is true of it. */
  forward(args: readonly string[], opens: { port: number } | { path: string }): Promise<ChildProcess>;
  /** The command that logs in on a terminal and runs this shell command there. */
  login(command: string): string[];
}

/** Starts an ssh server that only this test can log in to, as the user who runs it. It ends with the test. */
export async function startSshd(t: TestContext): Promise<SshServer> {
  const directory = scratchDirectory(t);
  const path = (name: string) => join(directory, name);
  for (const name of ["host", "user"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", path(name)]);
  const port = await freePort();
  writeFileSync(path("authorized_keys"), readFileSync(path("user.pub")), { mode: 0o600 });
  writeFileSync(path("sshd_config"), configuration(port, directory).join("\n"));
  // Debian's service creates it; sshd as root needs it.
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const server = spawn(SSHD, ["-D", "-e", "-f", path("sshd_config")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  t.after(() => server.kill("SIGKILL"));
  let log = "";
  server.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  await waitUntil(`sshd to listen: ${log}`, () => accepts({ port }));
  const options = [
    "StrictHostKeyChecking=no",
    `UserKnownHostsFile=${path("known_hosts")}`,
    "IdentitiesOnly=yes",
    "BatchMode=yes",
    "ExitOnForwardFailure=yes",
    "LogLevel=ERROR",
  ].flatMap((option) => ["-o", option]);
  const to = ["-p", String(port), "-i", path("user"), `${userInfo().username}@127.0.0.1`];
  return {
    login: (command) => ["ssh", "-F", "none", "-tt", ...options, ...to, command],
    async forward(args, opens) {
      const client = spawn("ssh", ["-F", "none", "-N", ...options, ...args, ...to], {
        stdio: ["ignore", "ignore", "pipe"],
      });
      t.after(() => client.kill("SIGKILL"));
      let errors = "";
      client.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
      await waitUntil("the forwarding", async () => {
        if (client.exitCode !== null) throw new Error(`ssh ended: ${errors}\n${log}`);
        return accepts(opens);
      });
      return client;
    },
  };
}

function configuration(port: number, directory: string): string[] {
  return [
    "ListenAddress 127.0.0.1",
    `Port ${port}`,
    `HostKey ${directory}/host`,
    `AuthorizedKeysFile ${directory}/authorized_keys`,
    `PidFile ${directory}/pid`,
    "StrictModes no",
    "UsePAM no",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    "PermitRootLogin prohibit-password",
    "AllowTcpForwarding yes",
    "AllowStreamLocalForwarding yes",
    "",
  ];
}

/** Resolves to true when something accepts a connection, otherwise to null. */
function accepts(target: { port: number } | { path: string }): Promise<true | null> {
  return new Promise((resolve) => {
    const probe = connect("port" in target ? { ...target, host: "127.0.0.1" } : target);
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", () => resolve(null));
  });
}
