import type { ConfigStatus, LedgerHealth } from "../ports.ts";
import { writeProblem } from "../core/config-problem.ts";

/** What a running daemon says of itself, over its control socket. Times are ISO 8601, UTC. */
export interface DaemonStatus {
  version: string;
  pid: number;
  startedAt: string;
  /** e.g. `127.0.0.1:8655`. */
  listening: string[];
  upstreams: { name: string; baseUrl: string; isSandbox: boolean }[];
  /** Every key that the configuration names, as the daemon last found it. */
  keys: KeyStatus[];
  config: ConfigStatus;
  ledger: LedgerHealth;
  openExchanges: number;
  /** The newest thing that went wrong; null when nothing has. */
  lastError: { at: string; message: string } | null;
}

/** One key: where it comes from and whether it was there; never its value. */
export interface KeyStatus {
  upstream: string;
  name: string;
  source: string;
  /** `present`, a failure code such as `locked`, or `not asked yet`. */
  state: string;
  /** What is wrong with it, in full; null when nothing is known to be. */
  problem: string | null;
  at: string | null;
}

/** Is everything there that a request needs? */
export function isHealthy(status: DaemonStatus): boolean {
  const keysWell = status.keys.every(({ state }) => state === "present" || state === "not asked yet");
  return keysWell && status.config.problems.length === 0 && status.ledger.waiting === 0;
}

/** The status as people read it, one fact a line. */
export function renderStatus(status: DaemonStatus): string[] {
  const { config, ledger } = status;
  const lines = [
    row("daemon", `tollkeeper ${status.version}, pid ${status.pid}, since ${status.startedAt}`),
    row("listening", status.listening.join(" and ")),
    ...status.upstreams.map(({ name, baseUrl, isSandbox }) =>
      row("upstream", `${name}: ${isSandbox ? "the built-in sandbox, answers are made up" : baseUrl}`),
    ),
    ...status.keys.flatMap(keyRows),
    row(
      "config",
      `${config.path}${config.exists ? "" : " (no such file; defaults)"}, read ${config.loadedAt}`,
    ),
    ...config.problems.map((problem) => row("", `not accepted: ${writeProblem(config.path, problem)}`)),
    row("ledger", `${ledger.directory}, ${ledger.written} written${trouble(ledger)}`),
    row("open", `${status.openExchanges} exchanges`),
  ];
  if (status.lastError !== null)
    lines.push(row("last error", `${status.lastError.message} (${status.lastError.at})`));
  return lines;
}

function keyRows({ upstream, name, source, state, at, problem }: KeyStatus): string[] {
  const what = row("key", `${name} for ${upstream}: ${state} (${source}${at === null ? "" : `, ${at}`})`);
  return problem === null ? [what] : [what, row("", problem)];
}

function trouble({ waiting, lost, lastError }: LedgerHealth): string {
  if (waiting === 0 && lost === 0) return "";
  return `, ${waiting} waiting, ${lost} lost: ${lastError ?? "unknown"}`;
}

function row(name: string, text: string): string {
  return `${name.padEnd(11)} ${text}`;
}
