import type { Access } from "../../../core/config/config.ts";
import type { ConfigStatus, LedgerHealth } from "../../../ports.ts";
import type { TokenStatus } from "../../../proxy/token-registry.ts";
import { describeAge } from "../../../core/text/age.ts";
import { writeProblem } from "../../../core/config/problem.ts";
import { countOf } from "../../terminal/count-of.ts";
import type { Outcome } from "../../../core/usage/reading.ts";

/** What a running daemon says of itself, over its control socket. Times are ISO 8601, UTC. */
export interface DaemonStatus {
  /** When it said so. */
  at: string;
  version: string;
  pid: number;
  startedAt: string;
  /** `stopping`: open exchanges may finish, and nothing new is accepted. */
  state: "serving" | "stopping";
  /** e.g. `127.0.0.1:8655`. */
  listening: string[];
  access: AccessStatus;
  upstreams: { name: string; baseUrl: string; isSandbox: boolean; lastExchange: LastExchange | null }[];
  /** How they are reached where that is not directly, in sentences; never with a password. */
  outbound: string[];
  /** Every key that the configuration names, as the daemon last found it. */
  keys: KeyStatus[];
  config: ConfigStatus;
  ledger: LedgerHealth;
  openExchanges: number;
  /** The newest thing that went wrong; null when nothing has. */
  lastError: { at: string; message: string } | null;
}

/** Who is served, and the local tokens that prove it. */
export interface AccessStatus extends Access {
  tokens: TokenStatus;
}

/** What became of the newest exchange with an upstream since the daemon's start. */
export interface LastExchange {
  /** When it ended. */
  at: string;
  outcome: Outcome;
  /** Status of the answer, the upstream's or our own; null when there was none. */
  status: number | null;
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

/** Is everything there that a request needs? Records that are lost are told, and change nothing for the next one. */
export function isHealthy(status: DaemonStatus): boolean {
  const keysWell = status.keys.every(({ state }) => state === "present" || state === "not asked yet");
  return (
    status.state === "serving" &&
    keysWell &&
    status.config.problems.length === 0 &&
    (status.access.mode === "open" || status.access.tokens.problem === null) &&
    status.ledger.waiting === 0
  );
}

/** The status as people read it, one fact a line, each with its age. */
export function renderStatus(status: DaemonStatus): string[] {
  const { config, ledger, lastError } = status;
  const age = (at: string) => describeAge(Date.parse(at), Date.parse(status.at));
  const state = status.state === "stopping" ? ", stopping" : "";
  const lines = [
    row(
      "daemon",
      `tollkeeper ${status.version}, pid ${status.pid}, started ${age(status.startedAt)}${state}`,
    ),
    row("listening", status.listening.join(" and ")),
    ...accessRows(status.access),
    ...status.upstreams.flatMap((upstream) => upstreamRows(upstream, age)),
    ...status.outbound.map((way) => row("", way)),
    ...status.keys.flatMap((key) => keyRows(key, age)),
    row(
      "config",
      `${config.path}${config.exists ? "" : " (no such file; defaults)"}, read ${age(config.loadedAt)}`,
    ),
    ...config.problems.map((problem) =>
      row("", `not accepted ${age(config.judgedAt)}: ${writeProblem(config.path, problem)}`),
    ),
    row("ledger", `${ledger.directory}, ${ledger.written} written${trouble(ledger)}`),
    row("open", `${status.openExchanges} exchanges`),
  ];
  if (lastError !== null) lines.push(row("last error", `${lastError.message} (${age(lastError.at)})`));
  return lines;
}

function accessRows({ mode, peerUid, tokens }: AccessStatus): string[] {
  const { registered, lent, problem } = tokens;
  const known = `${countOf(registered, "token")} registered${lent === 0 ? "" : `, ${lent} lent`}`;
  const rows = [row("access", `${ACCESS_WORDS[mode]}; ${known}`)];
  if (peerUid.length > 0)
    rows.push(row("", `programs of other users are let in, by uid: ${peerUid.join(", ")}`));
  if (problem !== null) rows.push(row("", [problem.message, problem.hint].filter(Boolean).join("; ")));
  else if (mode === "token" && registered + lent === 0)
    rows.push(row("", "register one with: tollkeeper token add TOOL"));
  return rows;
}

const ACCESS_WORDS = {
  open: "open, no token is asked for",
  token: "with a local token only",
};

type DescribeAge = (at: string) => string;

function upstreamRows(upstream: DaemonStatus["upstreams"][number], age: DescribeAge): string[] {
  const { name, baseUrl, isSandbox, lastExchange } = upstream;
  const what = row(
    "upstream",
    `${name}: ${isSandbox ? "the built-in sandbox, answers are made up" : baseUrl}`,
  );
  if (lastExchange === null) return [what];
  const { at, outcome, status } = lastExchange;
  return [what, row("", `last exchange ${outcome}${status === null ? "" : ` with ${status}`}, ${age(at)}`)];
}

function keyRows({ upstream, name, source, state, at, problem }: KeyStatus, age: DescribeAge): string[] {
  const seen = at === null ? "" : `, ${age(at)}`;
  const what = row("key", `${name} for ${upstream}: ${state} (${source}${seen})`);
  return problem === null ? [what] : [what, row("", problem)];
}

function trouble({ waiting, lost, lastError }: LedgerHealth): string {
  if (waiting === 0 && lost === 0) return "";
  return `, ${waiting} waiting, ${lost} lost: ${lastError ?? "unknown"}`;
}

/** One fact of a report that has a line for each: its name, and what is known. */
export function row(name: string, text: string): string {
  return `${name.padEnd(11)} ${text}`;
}
