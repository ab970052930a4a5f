import assert from "node:assert/strict";
import { readLedger } from "../../src/adapters/ledger-file/reader.ts";
import type { UsageRecord } from "../../src/core/ledger/record.ts";
import type { CommandResult } from "../helpers/daemon/daemon.ts";
import { testContainer } from "./booted-container.ts";
import { ask, clientAgent } from "./clients.ts";
import { until } from "../helpers/async/until.ts";
import { USER } from "./user.ts";

export const PORT = 8655;
/** Which of the two addresses it is, the client's agent decides. */
export const URL = `http://localhost:${PORT}`;
export const UNITS = `${USER.home}/.config/systemd/user`;
export const CONFIG = `${USER.home}/.config/tollkeeper/config.jsonc`;
export const LEDGER = `${USER.home}/.local/state/tollkeeper/ledger`;

/** The service in the container, as its user handles it. */
export const service = {
  container: testContainer(),

  /** Runs the program, as the user. */
  tollkeeper(...args: string[]): Promise<CommandResult> {
    return this.container.user("tollkeeper", ...args);
  },

  /** Runs the program, which must succeed; returns what it said. */
  async done(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.tollkeeper(...args);
    assert.equal(code, 0, `tollkeeper ${args.join(" ")}: ${stdout}${stderr}`);
    return stdout + stderr;
  },

  /** Asks the user's systemd for something that must succeed; returns what it said. */
  async systemctl(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.container.user("systemctl", "--user", ...args);
    assert.equal(code, 0, `systemctl --user ${args.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  },

  /** What systemd knows of the service. */
  async property(name: string): Promise<string> {
    return (await this.systemctl("show", "--value", `--property=${name}`, "tollkeeper.service")).trim();
  },

  async pid(): Promise<number> {
    return Number(await this.property("MainPID"));
  },

  /** Resolves with the pid of the next process, once that has said that it is ready. */
  nextPid(than: number): Promise<number> {
    return until("another process of the service", async () => {
      const [pid, state] = [await this.pid(), await this.property("ActiveState")];
      return pid > 0 && pid !== than && state === "active" ? pid : null;
    });
  },

  /** Sends a signal to a process of the container, by its number in there. */
  async signal(pid: number, name: string): Promise<void> {
    const { code, stderr } = await this.container.user("kill", "-s", name, String(pid));
    assert.equal(code, 0, stderr);
  },

  /** Status of an answer, over a connection of its own; the error's code when there is none. */
  async answer(host: "127.0.0.1" | "::1" = "127.0.0.1"): Promise<number | string> {
    return ask(clientAgent({ host, keepsAlive: false }), `${URL}/v1/models`).then(
      ({ status }) => status,
      (error: NodeJS.ErrnoException) => error.code ?? error.message,
    );
  },

  /** Everything that the journal holds of the service since the machine started, its own lines and systemd's. */
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

  /** Every record of its ledger, oldest first. */
  async ledger(): Promise<UsageRecord[]> {
    const records: UsageRecord[] = [];
    for await (const entry of readLedger(this.container.path(LEDGER), { from: "" })) {
      if ("unreadable" in entry) assert.fail(`line ${entry.line} of ${entry.file} is no record`);
      records.push(entry);
    }
    return records;
  },

  /** Settings for [Service] on top of the installed unit, in force from its next start on. */
  async override(...lines: string[]): Promise<void> {
    this.ownFile(`${UNITS}/tollkeeper.service.d/test.conf`, ["[Service]", ...lines, ""].join("\n"));
    await this.systemctl("daemon-reload");
  },

  /** Writes a file that the user owns and nobody else may read. */
  ownFile(inside: string, content: string): void {
    this.container.write(inside, content, USER.uid);
  },

  /** As it was before anything of ours was there. */
  async removeAll(): Promise<void> {
    await this.tollkeeper("service", "uninstall");
    const places = [UNITS, `${USER.home}/.config/tollkeeper`, `${USER.home}/.local/state/tollkeeper`];
    await this.container.root("rm", "-rf", ...places);
    await this.systemctl("daemon-reload");
  },
};
