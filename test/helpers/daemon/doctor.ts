import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { launchDaemon, prepareHome, type CommandResult, type Daemon, type DaemonStart } from "./daemon.ts";
import { fakePrograms } from "../process/fake-programs.ts";
import { freePort } from "../process/free-port.ts";
import { sentinelKey } from "../keychain/key-command.ts";
import { keyInFile } from "../keychain/key-file.ts";
import { answerJson, startUpstream, type Script } from "../upstream/scripted-upstream.ts";

/** What is different from a set-up in which all is well: its key in a file, its daemon started by hand, no service manager. */
export interface SetUpOptions {
  /** In place of the same keys of the configuration, of which the upstream's address may be a part. */
  config?: (baseUrl: string, keyFile: string) => object;
  upstream?: Script;
  /** `doctor`'s environment, not the daemon's. */
  env?: Record<string, string>;
  /** Of both. */
  session?: Record<string, string>;
  /** A directory with programs that are found before all others. */
  programs?: string;
  /** Files below the home directory. `%PORT%` stands for the configuration's port, `%KEY%` for the key. */
  files?: Record<string, string>;
  /** Names for more of what differs from run to run; see {@link SetUp.named}. */
  names?: Record<string, string>;
  /** A random one unless given. */
  key?: string;
  /** Of the configuration; any free one unless given. */
  port?: number;
  /** Does no daemon run? */
  isStopped?: true;
}

/** A machine that a doctor is called to. */
export interface SetUp {
  home: string;
  port: number;
  key: string;
  keyFile: string;
  configFile: string;
  /** Origin of the upstream. */
  upstream: string;
  /** null where none was started. */
  daemon: Daemon | null;
  doctor(...args: string[]): Promise<CommandResult>;
  /** A text with what differs from run to run replaced by its name: HOME, PORT, KEYFILE, UPSTREAM, PID, TIME. */
  named(text: string): string;
}

/** Makes one, gone with the test. */
export async function setUp(t: TestContext, options: SetUpOptions = {}): Promise<SetUp> {
  let launched: DaemonStart | null = null;
  // Registered first, and so done before the home is removed.
  t.after(() => launched?.kill());
  const port = options.port ?? (await freePort());
  const upstream = await startUpstream(t, options.upstream ?? answerModels);
  const key = options.key ?? sentinelKey();
  const { path: keyFile, config: upstreams } = keyInFile(t, upstream.baseUrl, key);
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
      const timeless = text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME");
      return names.reduce((named, [value, name]) => named.replaceAll(value, name), timeless);
    },
  };
}

const answerModels: Script = (_seen, res) => answerJson(res, { data: [{ id: "a" }, { id: "b" }] });
