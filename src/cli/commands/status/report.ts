import type { LedgerHealth } from "../../../ports.ts";
import { formatProblem } from "../../../core/config/problem.ts";
import { formatAge } from "../../../core/text/age.ts";
import type { AccessStatus, DaemonStatus, KeyStatus } from "../../../daemon/status-types.ts";
import { labelledLine } from "../../terminal/labelled-line.ts";
import { pluralize } from "../../terminal/numbers.ts";

/** True when the daemon has everything that a request needs. Lost records do not count: they do not affect new requests. */
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

/** Renders the status as text, one fact a line, with the age of each. */
export function renderStatus(status: DaemonStatus): string[] {
  const { config, ledger, lastError } = status;
  const age = (at: string) => formatAge(Date.parse(at), Date.parse(status.at));
  const state = status.state === "stopping" ? ", stopping" : "";
  const lines = [
    labelledLine(
      "daemon",
      `tollkeeper ${status.version}, pid ${status.pid}, started ${age(status.startedAt)}${state}`,
    ),
    labelledLine("listening", status.listening.join(" and ")),
    ...accessRows(status.access),
    ...status.upstreams.flatMap((upstream) => upstreamRows(upstream, age)),
    ...status.outbound.map((sentence) => labelledLine("", sentence)),
    ...status.keys.flatMap((key) => keyRows(key, age)),
    labelledLine(
      "config",
      `${config.path}${config.exists ? "" : " (no such file; defaults)"}, read ${age(config.loadedAt)}`,
    ),
    ...config.problems.map((problem) =>
      labelledLine("", `not accepted ${age(config.judgedAt)}: ${formatProblem(config.path, problem)}`),
    ),
    labelledLine("ledger", `${ledger.directory}, ${ledger.written} written${ledgerProblem(ledger)}`),
    labelledLine("open", `${status.openExchanges} exchanges`),
  ];
  if (lastError !== null)
    lines.push(labelledLine("last error", `${lastError.message} (${age(lastError.at)})`));
  return lines;
}

function accessRows({ mode, peerUid, tokens }: AccessStatus): string[] {
  const { registered, lent, problem } = tokens;
  const count = `${pluralize(registered, "token")} registered${lent === 0 ? "" : `, ${lent} lent`}`;
  const rows = [labelledLine("access", `${ACCESS_WORDS[mode]}; ${count}`)];
  if (peerUid.length > 0)
    rows.push(labelledLine("", `programs of other users are let in, by uid: ${peerUid.join(", ")}`));
  if (problem !== null)
    rows.push(labelledLine("", [problem.message, problem.hint].filter(Boolean).join("; ")));
  else if (mode === "token" && registered + lent === 0)
    rows.push(labelledLine("", "register one with: tollkeeper token add TOOL"));
  return rows;
}

const ACCESS_WORDS = {
  open: "open, no token is asked for",
  token: "with a local token only",
};

type DescribeAge = (at: string) => string;

function upstreamRows(upstream: DaemonStatus["upstreams"][number], age: DescribeAge): string[] {
  const { name, baseUrl, isSandbox, lastExchange } = upstream;
  const line = labelledLine(
    "upstream",
    `${name}: ${isSandbox ? "the built-in sandbox, answers are made up" : baseUrl}`,
  );
  if (lastExchange === null) return [line];
  const { at, outcome, status } = lastExchange;
  return [
    line,
    labelledLine("", `last exchange ${outcome}${status === null ? "" : ` with ${status}`}, ${age(at)}`),
  ];
}

function keyRows({ upstream, name, source, state, at, problem }: KeyStatus, age: DescribeAge): string[] {
  const lookedUp = at === null ? "" : `, ${age(at)}`;
  const line = labelledLine("key", `${name} for ${upstream}: ${state} (${source}${lookedUp})`);
  return problem === null ? [line] : [line, labelledLine("", problem)];
}

function ledgerProblem({ waiting, lost, lastError }: LedgerHealth): string {
  if (waiting === 0 && lost === 0) return "";
  return `, ${waiting} waiting, ${lost} lost: ${lastError ?? "unknown"}`;
}
