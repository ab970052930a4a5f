import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { launchDaemon, prepareHome, type CommandResult, type Daemon, type DaemonStart } from "./daemon.ts";
import { fakePrograms } from "../process/fake-programs.ts";
import { freePort } from "../process/free-port.ts";
import { sentinelKey } from "../keychain/key-command.ts";
import { writeKeyFile } from "../keychain/key-file.ts";
import { sendJson, startUpstream, type Script } from "../upstream/scripted-upstream.ts";

/** Differences from a healthy machine, which has its key in a file, a daemon started manually, and no service manager. */
export interface MachineOptions {
  /** Replaces top-level keys of the configuration. */
  config?: (baseUrl: string, keyFile: string) => object;
  upstream?: Script;
  /** Environment variables of `doctor` only. */
  env?: Record<string, string>;
  /** Environment variables of `doctor` and the daemon. */
  session?: Record<string, string>;
  /** A directory that comes first in PATH. */
  programs?: string;
  /** Files in the home directory, path → text. `%PORT%` stands for the configuration's port, `%KEY%` for the key. */
  files?: Record<string, string>;
  /** Further values that {@link Machine.named} replaces, name → value. */
  names?: Record<string, string>;
  /** By default a random one. */
  key?: string;
  /** The port in the configuration; by default any free one. */
  port?: number;
  /** Starts no daemon. */
  isStopped?: true;
}

/** A home directory, an upstream and a daemon on which `doctor` can be run. */
export interface Machine {
  home: string;
  port: number;
  key: string;
  keyFile: string;
  configFile: string;
  /** Origin of the upstream. */
  upstream: string;
  /** null when none was started. */
  daemon: Daemon | null;
  doctor(...args: string[]): Promise<CommandResult>;
  /** Replaces values that differ from run to run by their names: HOME, PORT, KEYFILE, UPSTREAM, PID, TIME. */
  named(text: string): string;
}

/** Sets up a machine, removed at the end of the test. */
export async function setUpMachine(t: TestContext, options: MachineOptions = {}): Promise<Machine> {
  let launched: DaemonStart | null = null;
  // Registered before the home's removal, so that the daemon is killed first.
  t.after(() => launched?.kill());
  const port = options.port ?? (await freePort());
  const upstream = await startUpstream(t, options.upstream ?? answerModels);
  const key = options.key ?? sentinelKey();
  const { path: keyFile, config: upstreams } = writeKeyFile(t, upstream.baseUrl, key);
  const config = { listen: { port }, ...upstreams, ...options.config?.(upstream.baseUrl, keyFile) };
  const programs = options.programs ?? fakePrograms(t, { systemctl: [{ match: "*", code: 127 }] }).directory;
  const env = { PATH: `${programs}:${process.env["PATH"]}`, ...options.session };
  const { home, configFile, command } = prepareHome(t, { config, env: { ...env, ...options.env } });
  for (const [name, text] of Object.entries(options.files ?? {})) {
    const path = join(home, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text.replaceAll("%PORT%", String(port)).replaceAll("%KEY%", key));
  }
  if (options.isStopped !== true) launched = launchDaemon(home, { config, env });
  const daemon = (await launched?.ready) ?? null;
  const names: [string, string][] = [
    ...Object.entries(options.names ?? {}).map(([name, value]): [string, string] => [value, name]),
    [keyFile, "KEYFILE"],
    [home, "HOME"],
    [upstream.origin, "UPSTREAM"],
    [String(port), "PORT"],
    [String(daemon?.pid ?? "no pid"), "PID"],
  ];
  return {
    home,
    port,
    key,
    keyFile,
    configFile,
    upstream: upstream.origin,
    daemon,
    doctor: (...args) => command("doctor", ...args),
    named(text) {
      const timeless = text.replaceAll(
        /\d{4}-\d\d-\d\dT[\d:.]+Z|(?<=(?:says|from) )\d{4}-\d\d-\d\d [\d:]+/g,
        "TIME",
      );
      return names.reduce((named, [value, name]) => named.replaceAll(value, name), timeless);
    },
  };
}

const answerModels: Script = (_seen, res) => sendJson(res, { data: [{ id: "a" }, { id: "b" }] });
