import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { launchDaemon, type Daemon, type DaemonStart } from "../helpers/daemon/daemon.ts";
import type { Observations } from "./observations.ts";
import type { HostileUpstream } from "./hostile-upstream.ts";
import { becomesTrue, residentBytes } from "../helpers/process/process-metrics.ts";
import { removeDirectory } from "../helpers/process/scratch-directory.ts";
import { KEY_START } from "./searcher.ts";

/** How long a daemon may take to load a configuration. */
const LOAD_WITHIN_MS = 10_000;
const SAMPLE_MS = 250;
const MAX_NOTE_LENGTH = 100;

/** Limits small enough to be exceeded. The time limits are far above normal durations. */
export const CHAOS_LIMITS = {
  bodyBytes: 4_000_000,
  bufferBytes: 10_000_000,
  firstByteMs: 2_000,
  betweenBytesMs: 2_000,
  drainMs: 1_500,
};

/** Short, so that a kill finds many requests noted. */
export const NOTE_AFTER_MS = 300;

/** The addresses of the hostile upstream and the certificate to trust. */
export interface UpstreamAddresses {
  plain: string;
  tls: string;
  certificateFile: string;
}

/** The requests of this tool use TLS. */
const TOOL_OVER_TLS = "codex";

/** The settings that a run changes. */
export interface ChaosSettings {
  port: number;
  limits: typeof CHAOS_LIMITS;
  graceMs: number;
}

/** The daemon under test, through all restarts: its process, its configuration and its key file. */
export class DaemonUnderChaos {
  readonly home = mkdtempSync(join(tmpdir(), "tollkeeper-chaos-"));
  readonly #keyFile = join(this.home, "key");
  readonly #observations: Observations;
  readonly #upstream: HostileUpstream;
  readonly #addresses: UpstreamAddresses;
  /** The output of daemons that have ended. */
  readonly #output: string[] = [];
  #settings: ChaosSettings = { port: 0, limits: CHAOS_LIMITS, graceMs: 300 };
  #start: DaemonStart | null = null;
  #daemon: Daemon | null = null;
  #isEndExpected = false;
  #memory: number[] = [];
  #sampler: NodeJS.Timeout | null = null;

  constructor(observations: Observations, upstream: HostileUpstream, addresses: UpstreamAddresses) {
    this.#observations = observations;
    this.#upstream = upstream;
    this.#addresses = addresses;
    this.changeKey();
  }

  get current(): Daemon {
    if (this.#daemon === null) throw new Error("no daemon runs");
    return this.#daemon;
  }

  get settings(): ChaosSettings {
    return this.#settings;
  }

  /** Resident bytes of the current daemon, sampled since its start. */
  get memory(): readonly number[] {
    return this.#memory;
  }

  /** The output of all daemons. */
  get output(): string {
    return [...this.#output, this.current.stdout(), this.current.stderr()].join("\n");
  }

  /** Starts the daemon on the port of its configuration. */
  async start(): Promise<void> {
    const { port } = this.#settings;
    this.#isEndExpected = false;
    const env = { NODE_EXTRA_CA_CERTS: this.#addresses.certificateFile };
    this.#start = launchDaemon(this.home, { config: this.#config(), port, args: ["--debug"], env });
    const daemon = await this.#start.ready;
    this.#daemon = daemon;
    this.#settings = { ...this.#settings, port: daemon.port };
    void daemon.ended.then((code) => {
      if (!this.#isEndExpected)
        this.#observations.reportViolation("the daemon ended by itself", `exit code ${code}`);
    });
    this.#memory = [];
    this.#sampler = setInterval(() => this.#memory.push(residentBytes(daemon.pid)), SAMPLE_MS);
    this.#note(`started, pid ${daemon.pid}, port ${daemon.port}`);
  }

  /** Sends SIGTERM, which lets running exchanges finish. */
  async stop(): Promise<void> {
    this.#expectEnd("stopping");
    const from = performance.now();
    const code = await this.current.stop();
    this.#observations.stops.push({ from, to: performance.now() });
    if (code !== 0) this.#observations.reportViolation("a stop with another exit code than 0", String(code));
    this.#saveOutput();
  }

  /** Sends SIGKILL, which lets nothing finish. */
  async kill(): Promise<void> {
    this.#expectEnd("killed");
    this.#observations.killedAt.push(performance.now());
    await this.#start?.kill();
    this.#saveOutput();
  }

  reload(): void {
    this.#note("SIGHUP");
    process.kill(this.current.pid, "SIGHUP");
  }

  /** Replaces the key at the upstream and in the file, without telling the daemon. */
  changeKey(): void {
    const key = KEY_START + randomBytes(20).toString("hex");
    this.#upstream.acceptedKeys = new Set([key]);
    this.#upstream.ourKeys.add(key);
    this.#note("another key");
    this.writeKeyFile(`${key}\n`);
  }

  /** Writes the current key to the file again. */
  restoreKeyFile(): void {
    this.writeKeyFile(`${[...this.#upstream.acceptedKeys].join("")}\n`);
  }

  writeKeyFile(text: string): void {
    writeFileSync(this.#keyFile, text, { mode: 0o600 });
  }

  /** Writes a configuration and waits until it is in force. */
  async configure(changes: Partial<ChaosSettings>): Promise<void> {
    this.#settings = { ...this.#settings, ...changes };
    const { port } = this.#settings;
    this.#note(`new configuration ${JSON.stringify(changes)}`);
    writeFileSync(this.current.configFile, JSON.stringify(this.#config()));
    await this.#waitUntil("a valid configuration in force", async () => {
      const { config, listening } = await this.current.status();
      return config.problems.length === 0 && listening.includes(`127.0.0.1:${port}`);
    });
  }

  /** Writes an invalid configuration and waits until the daemon reports it. */
  async breakConfiguration(text: string): Promise<void> {
    this.#note(`invalid configuration ${text.slice(0, MAX_NOTE_LENGTH)}`);
    writeFileSync(this.current.configFile, text);
    await this.#waitUntil("an invalid configuration reported", async () => {
      return (await this.current.status()).config.problems.length > 0;
    });
  }

  /** Lets a process write to another file in the configuration's directory all the time; returns what ends it. */
  startNeighbour(): () => void {
    this.#note("another file beside the configuration is written all the time");
    const script = 'while :; do echo written > "$0"; sleep 0.01; done';
    const neighbour = spawn("sh", ["-c", script, join(dirname(this.current.configFile), "neighbour")]);
    return () => neighbour.kill("SIGKILL");
  }

  /** Records a disturbance that the daemon has handled. */
  recordDisturbance(name: string): void {
    this.#observations.disturbances.push(name);
  }

  /** Kills the daemon and removes its files. */
  async remove(): Promise<void> {
    this.#expectEnd("removed");
    await this.#start?.kill();
    removeDirectory(this.home);
  }

  #config(): object {
    const { port, limits, graceMs } = this.#settings;
    const { plain, tls } = this.#addresses;
    const keySource = { file: this.#keyFile };
    const upstreams = { default: { baseUrl: plain, keySource }, tls: { baseUrl: tls, keySource } };
    const [overTls, plainly] = [{ upstreams: ["tls"] }, { upstreams: ["default"] }];
    const tools = { [TOOL_OVER_TLS]: overTls, "claude-code": plainly, "my.tool": plainly };
    const ledger = { noteAfterMs: NOTE_AFTER_MS };
    return { listen: { port }, upstreams, tools, ledger, limits, abort: { graceMs } };
  }

  async #waitUntil(what: string, condition: () => Promise<boolean>): Promise<void> {
    if (!(await becomesTrue(condition, LOAD_WITHIN_MS)))
      this.#observations.reportViolation("never happened", what);
  }

  #expectEnd(why: string): void {
    this.#isEndExpected = true;
    if (this.#sampler !== null) clearInterval(this.#sampler);
    this.#note(why);
  }

  #saveOutput(): void {
    const { stdout, stderr } = this.current;
    this.#output.push(stdout(), stderr());
  }

  #note(what: string): void {
    this.#observations.note("daemon", what);
  }
}
