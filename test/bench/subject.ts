import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../helpers/process/free-port.ts";
import { familyOf } from "./cpu.ts";
import type { Load } from "./load.ts";
import { runLoad } from "./load-run.ts";
import { SMALL_BODY_BYTES } from "./request.ts";
import type { Site } from "./site.ts";
import type { Launched, Target } from "./targets/target.ts";

/** What has not answered by then has not started. */
const STARTS_WITHIN_MS = 20_000;
const LOOK_AGAIN_MS = 1;

const ONE_REQUEST = {
  answer: "json",
  bodyBytes: SMALL_BODY_BYTES,
  connections: 1,
  requests: 1,
  forMs: 1_000,
  isFresh: true,
} as const;

/** A target that runs, and answers. */
export class Subject {
  readonly target: Target;
  /** Its processes; none for the upstream itself. */
  readonly pids: number[];
  /** From the start of its process to its first answer. NaN for the upstream itself. */
  readonly startMs: number;
  /** How a load reaches it. */
  readonly way: Pick<Load, "port" | "headers" | "modelPrefix">;
  readonly #launched: Launched | null;
  #requests = 0;

  private constructor(target: Target, way: Subject["way"], launched: Launched | null, startMs: number) {
    this.target = target;
    this.way = way;
    this.#launched = launched;
    this.pids = launched === null ? [] : familyOf(launched.pid);
    this.startMs = startMs;
  }

  /** Starts the target; resolves with its first right answer. It ends with the site at the latest. */
  static async start(target: Target, { upstream, placement, directory, cleanup }: Site): Promise<Subject> {
    const way = {
      headers: target.headers(upstream.port),
      modelPrefix: target.modelPrefix,
    };
    if (target.launch === null) return new Subject(target, { ...way, port: upstream.port }, null, Number.NaN);
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
    await firstAnswer({ ...way, ...ONE_REQUEST, port }, startedAt);
    const subject = new Subject(target, { ...way, port }, launched, performance.now() - startedAt);
    subject.count(1);
    return subject;
  }

  /** So many more requests were answered. */
  count(requests: number): void {
    this.#requests += requests;
  }

  /** Whatever is wrong with the target's own account of its requests. */
  async audit(): Promise<string[]> {
    return (await this.#launched?.audit(this.#requests)) ?? [];
  }

  async stop(): Promise<void> {
    await this.#launched?.stop();
  }
}

async function firstAnswer(load: Load, startedAt: number): Promise<void> {
  for (;;) {
    const { requests, faults } = await runLoad(load, () => Promise.resolve());
    if (requests === 1) return;
    if (performance.now() - startedAt > STARTS_WITHIN_MS)
      throw new Error(`no answer at the start: ${faults.join()}`);
    await delay(LOOK_AGAIN_MS);
  }
}
