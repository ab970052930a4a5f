import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../helpers/process/free-port.ts";
import { listProcessTree } from "./cpu.ts";
import type { Load } from "./load.ts";
import { runLoad } from "./load-run.ts";
import { SMALL_BODY_BYTES } from "./request.ts";
import type { Site } from "./site.ts";
import type { CommandContext, Launched, Target } from "./targets/target.ts";

/** How long a target may take to its first response. */
const START_LIMIT_MS = 20_000;
const LOOK_AGAIN_MS = 1;

const ONE_REQUEST = {
  response: "json",
  bodyBytes: SMALL_BODY_BYTES,
  connections: 1,
  requests: 1,
  forMs: 1_000,
  isFresh: true,
} as const;

/** A running target. */
export class Subject {
  readonly target: Target;
  /** Its processes; none for the upstream itself. */
  readonly pids: number[];
  /** From the start of its process to its first response. NaN for the upstream itself. */
  readonly startMs: number;
  /** What a load needs to reach it. */
  readonly reach: Pick<Load, "port" | "headers" | "modelPrefix">;
  readonly #launched: Launched | null;
  #requests = 0;

  private constructor(target: Target, reach: Subject["reach"], launched: Launched | null, startMs: number) {
    this.target = target;
    this.reach = reach;
    this.#launched = launched;
    this.pids = launched === null ? [] : ownProcesses(launched);
    this.startMs = startMs;
  }

  /** Starts a target and resolves with its first correct response. It ends with the site at the latest. */
  static async start(target: Target, { upstream, placement, directory, cleanup }: Site): Promise<Subject> {
    const reach = {
      headers: target.headers(upstream.port),
      modelPrefix: target.modelPrefix,
    };
    if (target.launch === null)
      return new Subject(target, { ...reach, port: upstream.port }, null, Number.NaN);
    const port = await freePort();
    const own = mkdtempSync(join(directory, `${target.name}-`));
    const startedAt = performance.now();
    const launched = target.launch({
      port,
      upstreamPort: upstream.port,
      directory: own,
      launcher: placement.launcher,
    });
    cleanup.after(() => launched.stop());
    await firstResponse({ ...reach, ...ONE_REQUEST, port }, startedAt);
    const subject = new Subject(target, { ...reach, port }, launched, performance.now() - startedAt);
    subject.count(1);
    return subject;
  }

  /** Adds to the number of completed requests. */
  count(requests: number): void {
    this.#requests += requests;
  }

  /** What the target's commands need to ask it; null for a target without commands. */
  get commands(): Promise<CommandContext> | null {
    return this.#launched?.commands ?? null;
  }

  /** Lists what is wrong with the target's own record of its requests. */
  async audit(): Promise<string[]> {
    return (await this.#launched?.audit(this.#requests)) ?? [];
  }

  async stop(): Promise<void> {
    await this.#launched?.stop();
  }
}

/** Children of a target with commands are such commands, which come and go; those of others are its workers. */
function ownProcesses({ pid, commands }: Launched): number[] {
  return commands === null ? listProcessTree(pid) : [pid];
}

async function firstResponse(load: Load, startedAt: number): Promise<void> {
  for (;;) {
    const { requests, faults } = await runLoad(load, () => Promise.resolve());
    if (requests === 1) return;
    if (performance.now() - startedAt > START_LIMIT_MS)
      throw new Error(`no response at the start: ${faults.join()}`);
    await delay(LOOK_AGAIN_MS);
  }
}
