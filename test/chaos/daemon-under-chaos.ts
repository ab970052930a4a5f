import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launchDaemon, type Daemon, type DaemonStart } from "../helpers/daemon/daemon.ts";
import type { Books } from "./books.ts";
import type { EvilUpstream } from "./evil-upstream.ts";
import { comesTrue, residentBytes } from "./process-figures.ts";
import { KEY_START } from "./searcher.ts";

/** A daemon that has not followed its configuration file by then does not. */
const FOLLOWS_WITHIN_MS = 10_000;
const SAMPLE_MS = 250;

/** Limits small enough to be met; the time limits are far above what the machine itself takes. */
export const CHAOS_LIMITS = {
  bodyBytes: 4_000_000,
  firstByteMs: 2_000,
  betweenBytesMs: 2_000,
  drainMs: 1_500,
};

/** Where the evil upstream is reached, and whose word is to be taken for that. */
export interface UpstreamAddresses {
  plain: string;
  tls: string;
  certificateFile: string;
}

/** Its requests go over TLS; it is drawn as often as others. */
const TOOL_OVER_TLS = "codex";

/** What a run changes in the configuration. */
export interface ChaosSettings {
  port: number;
  limits: typeof CHAOS_LIMITS;
  graceMs: number;
}

/** The daemon that is tried: a process, its configuration, its key file, through all its restarts. */
export class DaemonUnderChaos {
  readonly home = mkdtempSync(join(tmpdir(), "tollkeeper-chaos-"));
  readonly #keyFile = join(this.home, "key");
  readonly #books: Books;
  readonly #upstream: EvilUpstream;
  readonly #addresses: UpstreamAddresses;
  /** What daemons that have ended said. */
  readonly #said: string[] = [];
  #settings: ChaosSettings = { port: 0, limits: CHAOS_LIMITS, graceMs: 300 };
  #start: DaemonStart | null = null;
  #daemon: Daemon | null = null;
  #isEndExpected = false;
  #memory: number[] = [];
  #sampler: NodeJS.Timeout | null = null;

  constructor(books: Books, upstream: EvilUpstream, addresses: UpstreamAddresses) {
    this.#books = books;
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

  /** Resident bytes of the daemon that runs, sampled since it started. */
  get memory(): readonly number[] {
    return this.#memory;
  }

  /** Everything that all daemons said. */
  get said(): string {
    return [...this.#said, this.current.stdout(), this.current.stderr()].join("\n");
  }

  /** Starts the daemon, again on the port that its configuration names. */
  async start(): Promise<void> {
    const { port } = this.#settings;
    this.#isEndExpected = false;
    const env = { NODE_EXTRA_CA_CERTS: this.#addresses.certificateFile };
    this.#start = launchDaemon(this.home, { config: this.#config(), port, args: ["--debug"], env });
    const daemon = await this.#start.ready;
    this.#daemon = daemon;
    this.#settings = { ...this.#settings, port: daemon.port };
    void daemon.ended.then((code) => {
      if (!this.#isEndExpected) this.#books.offend("the daemon ended by itself", `exit code ${code}`);
    });
    this.#memory = [];
    this.#sampler = setInterval(() => this.#memory.push(residentBytes(daemon.pid)), SAMPLE_MS);
    this.#note(`started, pid ${daemon.pid}, port ${daemon.port}`);
  }

  /** SIGTERM: what runs may finish. */
  async stop(): Promise<void> {
    this.#expectEnd("stopping");
    const from = performance.now();
    const code = await this.current.stop();
    this.#books.stops.push({ from, to: performance.now() });
    if (code !== 0) this.#books.offend("a stop with another exit code than 0", String(code));
    this.#keepWords();
  }

  /** SIGKILL: nothing may finish. */
  async kill(): Promise<void> {
    this.#expectEnd("killed");
    this.#books.killedAt.push(performance.now());
    await this.#start?.kill();
    this.#keepWords();
  }

  hangUp(): void {
    this.#note("SIGHUP");
    process.kill(this.current.pid, "SIGHUP");
  }

  /** A new key, which the upstream accepts from now on, and no other. The daemon is not told. */
  changeKey(): void {
    const key = KEY_START + randomBytes(20).toString("hex");
    this.#upstream.acceptedKeys = new Set([key]);
    this.#upstream.ourKeys.add(key);
    this.#note("another key");
    this.writeKeyFile(`${key}\n`);
  }

  /** Puts the newest key back after {@link writeKeyFile} has spoilt it. */
  restoreKeyFile(): void {
    this.writeKeyFile(`${[...this.#upstream.acceptedKeys].join("")}\n`);
  }

  writeKeyFile(text: string): void {
    writeFileSync(this.#keyFile, text, { mode: 0o600 });
  }

  /** Writes a configuration and waits until the daemon works by it. */
  async configure(changes: Partial<ChaosSettings>): Promise<void> {
    this.#settings = { ...this.#settings, ...changes };
    const { port } = this.#settings;
    this.#note(`new configuration ${JSON.stringify(changes)}`);
    writeFileSync(this.current.configFile, JSON.stringify(this.#config()));
    await this.#follows("a good configuration", async () => {
      const { config, listening } = await this.current.status();
      return config.problems.length === 0 && listening.includes(`127.0.0.1:${port}`);
    });
  }

  /** Writes what is no configuration and waits until the daemon has said so. */
  async breakConfiguration(text: string): Promise<void> {
    this.#note(`broken configuration ${text}`);
    writeFileSync(this.current.configFile, text);
    await this.#follows("a broken configuration", async () => {
      return (await this.current.status()).config.problems.length > 0;
    });
  }

  /** Enters something that was done to the daemon, once it has dealt with it. */
  tellDisturbance(name: string): void {
    this.#books.disturbances.push(name);
  }

  /** Ends the daemon and removes all that it left. */
  async remove(): Promise<void> {
    this.#expectEnd("removed");
    await this.#start?.kill();
    rmSync(this.home, { recursive: true, force: true });
  }

  #config(): object {
    const { port, limits, graceMs } = this.#settings;
    const { plain, tls } = this.#addresses;
    const keySource = { file: this.#keyFile };
    const upstreams = { default: { baseUrl: plain, keySource }, tls: { baseUrl: tls, keySource } };
    const tools = { [TOOL_OVER_TLS]: { upstream: "tls" } };
    return { listen: { port }, upstreams, tools, limits, abort: { graceMs } };
  }

  async #follows(what: string, condition: () => Promise<boolean>): Promise<void> {
    if (!(await comesTrue(condition, FOLLOWS_WITHIN_MS))) this.#books.offend("not followed", what);
  }

  #expectEnd(why: string): void {
    this.#isEndExpected = true;
    if (this.#sampler !== null) clearInterval(this.#sampler);
    this.#note(why);
  }

  #keepWords(): void {
    const { stdout, stderr } = this.current;
    this.#said.push(stdout(), stderr());
  }

  #note(what: string): void {
    this.#books.note("daemon", what);
  }
}
