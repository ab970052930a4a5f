import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import type { Readable } from "node:stream";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { isInstalled } from "../../run/debian-packages.ts";
import { withLimit } from "../async/limit.ts";
import { waitUntil } from "../async/wait-until.ts";
import { startSession } from "../keychain/keychain-session.ts";

const NEEDED = ["dbus-daemon", "busctl", "Xvfb", "dunst", "notify-send"];

/** The reason why no real notification can be shown here, for `test(..., { skip })`; false when one can. */
export const noDesktop: string | false = reasonToSkip();

function reasonToSkip(): string | false {
  if (process.platform !== "linux") return "needs Linux: these tests run a desktop of their own";
  const missing = NEEDED.filter((program) => !isInstalled(program));
  return (
    missing.length > 0 && `not installed: ${missing.join(", ")} (apt-get install dunst libnotify-bin xvfb)`
  );
}

/** A desktop of its own, which ends with the test: a session bus, a screen that nobody sees, and a notification daemon. */
export interface Desktop {
  /** Variables that locate it: for `setEnvironment`, or for a child process. */
  env: { DBUS_SESSION_BUS_ADDRESS: string };
  /** Resolves with everything that the notification daemon has said of what it shows, once that matches. */
  until(pattern: RegExp): Promise<string>;
}

/** Starts a desktop with dunst. */
export async function startDesktop(t: TestContext): Promise<Desktop> {
  const { directory, env, busEnv } = await startSession(t);
  mkdirSync(env.XDG_RUNTIME_DIR, { recursive: true, mode: 0o700 });
  const display = await startScreen(t);
  const dunst = spawn("dunst", ["-print"], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, ...env, DISPLAY: display, XDG_CONFIG_HOME: directory },
  });
  t.after(() => dunst.kill("SIGKILL"));
  await untilOwned("org.freedesktop.Notifications", { ...process.env, ...env });
  return { env: busEnv, until: collect(dunst.stdout) };
}

/** Starts a screen, and returns its name once programs can connect to it. */
async function startScreen(t: TestContext): Promise<string> {
  // Without the system's directory for sockets it would create one, of this user, in the way of other users.
  const sockets = existsSync("/tmp/.X11-unix") ? [] : ["-nolisten", "unix"];
  const screen = spawn(
    "Xvfb",
    ["-displayfd", "3", "-screen", "0", "400x300x24", "-nolisten", "tcp", ...sockets],
    { stdio: ["ignore", "ignore", "ignore", "pipe"] },
  );
  // Not SIGKILL, after which its lock and its socket would stay.
  t.after(async () => {
    screen.kill("SIGTERM");
    if (screen.exitCode === null && screen.signalCode === null) await once(screen, "exit");
  });
  const [number] = (await once((screen.stdio[3] as Readable).setEncoding("utf8"), "data")) as [string];
  return `:${number.trim()}`;
}

/** Polls the bus, because no program says when it owns its name. */
async function untilOwned(name: string, env: NodeJS.ProcessEnv): Promise<void> {
  const question = ["org.freedesktop.DBus", "/", "org.freedesktop.DBus", "NameHasOwner", "s", name];
  await waitUntil(`${name} on the bus`, async () => {
    const { stdout } = await promisify(execFile)("busctl", ["--user", "--json=short", "call", ...question], {
      env,
    });
    return (JSON.parse(stdout) as { data: [boolean] }).data[0] || null;
  });
}

function collect(output: Readable): Desktop["until"] {
  let text = "";
  const waiting = new Set<() => void>();
  output.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    for (const check of waiting) check();
  });
  return (pattern) =>
    withLimit(
      new Promise((resolve) => {
        const check = () => {
          if (!pattern.test(text)) return;
          waiting.delete(check);
          resolve(text);
        };
        waiting.add(check);
        check();
      }),
      () => `${String(pattern)} in what the notification daemon says:\n${text}`,
    );
}
