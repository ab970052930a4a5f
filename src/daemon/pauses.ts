import { fixOf } from "../adapters/system-fix.ts";
import { readStateFile, writeStateFile } from "../adapters/state-file.ts";
import type { Config } from "../core/config/config.ts";
import { Failure, messageOf } from "../core/failure.ts";
import type { Refusal } from "../core/refusals/refusal.ts";
import { groupOfTool } from "../core/policy/tool-access.ts";
import {
  addPause,
  encodePauses,
  endPause,
  findPause,
  namePaused,
  parsePauses,
  type Pause,
  type PauseScope,
} from "../core/policy/pauses.ts";
import { refusePaused } from "../core/refusals/policy.ts";
import type { Clock, Log, Pauses } from "../ports.ts";

/** What pauses are kept with. */
interface PauseParts {
  /** The file in which they survive a restart. */
  path: string;
  clock: Pick<Clock, "now">;
  log: Log;
}

/** Keeps what a person has paused, until a person ends it. */
export class DaemonPauses implements Pauses {
  readonly #parts: PauseParts;
  #pauses: readonly Pause[];

  constructor(parts: PauseParts) {
    this.#parts = parts;
    this.#pauses = this.#read();
  }

  get all(): readonly Pause[] {
    return this.#pauses;
  }

  get namesTools(): boolean {
    return this.#pauses.some(({ kind }) => kind === "tool");
  }

  judge(tool: string, config: Config): Refusal | null {
    if (this.#pauses.length === 0) return null;
    const pause = findPause(this.#pauses, tool, groupOfTool(config, tool)?.name ?? null);
    return pause === null ? null : refusePaused(pause);
  }

  /** Names what keeps a tool paused, or with null all that is paused. Empty where nothing is. */
  nameFor(tool: string | null, config: Config): string {
    const group = tool === null ? null : groupOfTool(config, tool);
    return namePaused(this.#pauses, tool, group?.name ?? null);
  }

  /** Pauses from now on. @throws Failure when that could not be kept, so that a restart would end it */
  pause(scope: PauseScope): void {
    const since = new Date(this.#parts.clock.now()).toISOString();
    this.#change(addPause(this.#pauses, { ...scope, since }));
  }

  /** Ends a pause. Returns false when there was none. @throws Failure when a restart would begin it again */
  resume(scope: PauseScope): boolean {
    const left = endPause(this.#pauses, scope);
    const wasPaused = left.length < this.#pauses.length;
    if (wasPaused) this.#change(left);
    return wasPaused;
  }

  #change(pauses: readonly Pause[]): void {
    const { path } = this.#parts;
    // In force in any case, and first.
    this.#pauses = pauses;
    try {
      writeStateFile(path, encodePauses(pauses));
    } catch (error) {
      throw new Failure(
        `this is in force, but a restart would undo it: ${messageOf(error)}`,
        `${fixOf(error) ?? "make room on the disk, or see its permissions"}; then repeat the command`,
      );
    }
  }

  #read(): Pause[] {
    const { path, log } = this.#parts;
    try {
      const text = readStateFile(path);
      const pauses = text === null ? [] : parsePauses(text);
      if (pauses !== null) return pauses;
      log.warn({ file: path }, FORGOTTEN);
    } catch (error) {
      log.warn({ file: path, reason: messageOf(error) }, FORGOTTEN);
    }
    return [];
  }
}

const FORGOTTEN = "what was paused cannot be read: nothing is paused now";
