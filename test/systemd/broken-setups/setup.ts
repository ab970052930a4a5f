import assert from "node:assert/strict";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import type { BrokenThing } from "../../helpers/daemon/repair.ts";
import { service } from "../service.ts";

/** A set-up that is broken after the service was installed and ran well. */
export interface BrokenSetup {
  what: string;
  breaks(): Promise<void>;
  /** What one of the first findings says. */
  says: RegExp;
  /** Everything that has to be typed, in order; `PID` stands for any process id. */
  typed: string[];
  /** What the person changes in an editor: a shell script with the file as `$1`. */
  edit?: string;
  /** What the person's PATH begins with, where it differs from the service's. */
  path?: string;
  acts?: BrokenThing["acts"];
  /** Takes back what the rest of the tests could not live with. */
  undo?(): void | Promise<void>;
}

export const START = "tollkeeper service start";
export const INSTALL = "tollkeeper service install";

/** Runs a shell command, which must succeed, as the user. */
export async function shell(command: string): Promise<void> {
  const { code, stderr } = await service.container.user("sh", "-ec", command);
  assert.equal(code, 0, `${command}: ${stderr}`);
}

/** Starts the service again and again, as systemd does, until systemd gives up. Only then it does not wait to try again. */
export async function startUntilRefused(): Promise<void> {
  await waitUntil("systemd to give up", async () => {
    await service.container.user("systemctl", "--user", "restart", "tollkeeper.service");
    return (await service.property("ActiveState")) === "failed" ? true : null;
  });
}

/** Waits until the daemon's status says this. */
export async function waitForStatus(pattern: RegExp): Promise<void> {
  await waitUntil(`a status with ${pattern}`, async () => {
    const { stdout } = await service.tollkeeper("status");
    return pattern.test(stdout) ? true : null;
  });
}
