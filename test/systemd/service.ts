import assert from "node:assert/strict";
import { readLedger } from "../../src/adapters/ledger-file.ts";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import type { CommandResult } from "../helpers/daemon/daemon.ts";
import { testContainer } from "./booted-container.ts";
import { sendRequest, createAgent } from "./clients.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { SERVICE_USER } from "./service-user.ts";

export const PORT = 8655;
/** The client's agent decides which of the two addresses localhost is. */
export const URL = `http://localhost:${PORT}`;
export const UNITS = `${SERVICE_USER.home}/.config/systemd/user`;
export const CONFIG = `${SERVICE_USER.home}/.config/tollkeeper/config.jsonc`;
const LEDGER = `${SERVICE_USER.home}/.local/state/tollkeeper/ledger`;

/** The service in the container, from the perspective of its user. */
export const service = {
  container: testContainer(),

  /** Runs tollkeeper as the user. */
  tollkeeper(...args: string[]): Promise<CommandResult> {
    return this.container.user("tollkeeper", ...args);
  },

  /** Runs tollkeeper, which must succeed, and returns its output. */
  async mustRun(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.tollkeeper(...args);
    assert.equal(code, 0, `tollkeeper ${args.join(" ")}: ${stdout}${stderr}`);
    return stdout + stderr;
  },

  /** Runs systemctl, which must succeed, for the user's systemd, and returns its output. */
  async systemctl(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.container.user("systemctl", "--user", ...args);
    assert.equal(code, 0, `systemctl --user ${args.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  },

  /** Returns a property of the service unit. */
  async property(name: string): Promise<string> {
    return (await this.systemctl("show", "--value", `--property=${name}`, "tollkeeper.service")).trim();
  },

  async pid(): Promise<number> {
    return Number(await this.property("MainPID"));
  },

  /** Waits until another process than `than` has reported that it is ready, and returns its pid. */
  nextPid(than: number): Promise<number> {
    return waitUntil("another process of the service", async () => {
      const [pid, state] = [await this.pid(), await this.property("ActiveState")];
      return pid > 0 && pid !== than && state === "active" ? pid : null;
    });
  },

  /** Sends a signal to a process, by its pid in the container. */
  async signal(pid: number, name: string): Promise<void> {
    const { code, stderr } = await this.container.user("kill", "-s", name, String(pid));
    assert.equal(code, 0, stderr);
  },

  /** Sends a request on a new connection. Returns the status of the response, or the code of the error. */
  async requestStatus(host: "127.0.0.1" | "::1" = "127.0.0.1"): Promise<number | string> {
    return sendRequest(createAgent({ host, keepsAlive: false }), `${URL}/v1/models`).then(
      ({ status }) => status,
      (error: NodeJS.ErrnoException) => error.code ?? error.message,
    );
  },

  /** Returns the journal entries of the service since boot, its own and systemd's. */
  async journal(): Promise<Record<string, string>[]> {
    const matches = ["_SYSTEMD_USER_UNIT=tollkeeper.service", "+", "USER_UNIT=tollkeeper.service"];
    const { stdout } = await this.container.root(
      "journalctl",
      "--boot",
      "--all",
      "--output=json",
      ...matches,
    );
    const lines = stdout.split("\n").filter((line) => line !== "");
    return lines.map((line) => JSON.parse(line) as Record<string, string>);
  },

  /** Returns the records of the ledger, oldest first. */
  async ledger(): Promise<UsageRecord[]> {
    const records: UsageRecord[] = [];
    for await (const entry of readLedger(this.container.path(LEDGER), { from: "" })) {
      if ("unreadable" in entry) assert.fail(`line ${entry.line} of ${entry.file} is no record`);
      records.push(entry);
    }
    return records;
  },

  /** Adds settings to [Service] of the installed unit, in a drop-in that takes effect at the next start. */
  async override(...lines: string[]): Promise<void> {
    this.ownFile(`${UNITS}/tollkeeper.service.d/test.conf`, ["[Service]", ...lines, ""].join("\n"));
    await this.systemctl("daemon-reload");
  },

  /** Writes a file that belongs to the user and that nobody else may read. */
  ownFile(inside: string, content: string): void {
    this.container.write(inside, content, SERVICE_USER.uid);
  },

  /** Uninstalls the service and removes its configuration and ledger. */
  async removeAll(): Promise<void> {
    await this.tollkeeper("service", "uninstall");
    const places = [
      UNITS,
      `${SERVICE_USER.home}/.config/tollkeeper`,
      `${SERVICE_USER.home}/.local/state/tollkeeper`,
    ];
    await this.container.root("rm", "-rf", ...places);
    await this.systemctl("daemon-reload");
  },
};
