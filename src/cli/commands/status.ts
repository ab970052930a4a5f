import { formatCommand } from "../../core/text/shell-words.ts";
import { setTimeout as delay } from "node:timers/promises";
import { formatProblem } from "../../core/config/problem.ts";
import { localCalendar } from "../../core/ledger/calendar.ts";
import { describeHold, describeLimit } from "../../core/limits/describe-limits.ts";
import { OPEN_GROUPS } from "../../core/config/warnings.ts";
import { Failure } from "../../core/failure.ts";
import { judgeHealth } from "../../core/health.ts";
import { describeScope, resumeCommand } from "../../core/policy/pauses.ts";
import { describeExpiry } from "../../core/secrets/describe-expiry.ts";
import { formatAge } from "../../core/text/age.ts";
import { homeDirectory } from "../../adapters/paths.ts";
import { daemonStatus } from "../../daemon/running-daemon.ts";
import type { AccessStatus, DaemonStatus, KeyStatus } from "../../daemon/status.ts";
import type { LedgerHealth } from "../../ports.ts";
import { findServiceManager } from "../../service/find-manager.ts";
import { attempt } from "../attempt.ts";
import { reportOptions, type Command, type ReportArguments } from "../command.ts";
import { resolveConfigPath } from "../load-config.ts";
import { explainAbsence } from "../service/explain-absence.ts";
import { describeOtherProgram, replaceCommand } from "../service/other-program.ts";
import { budgetRow, formatLift, nameBudget, toneOfBudget } from "../budget/format-budgets.ts";
import { formatTools } from "../config/format-groups.ts";
import { noteMisnamedConfig } from "../note-other-config.ts";
import { EXIT, hasColours, note, printJson } from "../terminal/console.ts";
import { layOutFacts, printFacts, type Fact } from "../terminal/facts.ts";
import { displayPath, pluralize } from "../terminal/format.ts";
import { Screen } from "../terminal/screen.ts";
import { WrongUsage } from "../wrong-usage.ts";
import { describeCapture } from "./capture/list.ts";
import { groupRow, holdRow, keyRow, limitRow, upstreamRow } from "./status/rows.ts";
import { readPayers, type Payers } from "./status/payers.ts";
import { describeVerdict } from "./status/verdict.ts";

interface StatusArguments extends ReportArguments {
  watch?: boolean | undefined;
}

/** How often what is watched is renewed. */
const RENEW_MS = 1_000;

/** `tollkeeper status`: shows the running daemon's status. Exits with 0 when it is healthy, else 1. */
export const command: Command<StatusArguments> = {
  alone: { json: false },
  builder: (yargs) =>
    reportOptions(yargs)
      .option("watch", {
        type: "boolean",
        describe: "Show it on the whole terminal and renew it each second, until q is pressed",
      })
      .check(({ watch, json }) =>
        watch === true && json ? '"--watch" shows no JSON; leave one of the two out' : true,
      ),
  handler: async ({ config, json, watch }) => {
    if (watch === true) return watchStatus();
    const status = await daemonStatus();
    if (status === null) throw await explainAbsence();
    if (config !== undefined) noteOtherConfig(resolveConfigPath(config), status);
    await noteOtherProgram(status);
    if (!status.config.exists) noteMisnamedConfig(status.config.path);
    const payers = await readPayers(status);
    if (json) printJson({ ...status, tools: payers.payers });
    else printFacts(describeStatus(status, payers));
    if (judgeHealth(status) !== "ok") process.exitCode = EXIT.failed;
  },
};

/** A daemon that runs is shown whichever file was named: a user has only one. */
function noteOtherConfig(path: string, { config }: DaemonStatus): void {
  if (config.path !== path)
    note(`note: the running daemon uses another configuration than ${path}: ${config.path}`);
}

/** Shows the status until `q` is pressed, whether or not a daemon runs. */
async function watchStatus(): Promise<void> {
  if (!process.stdout.isTTY)
    throw new WrongUsage('"--watch" needs a terminal', "in scripts, use: tollkeeper status --json");
  let facts: readonly Fact[] = [];
  const draw = () => screen.draw([...layOutFacts(facts, screen.columns, hasColours()), "", "q: quit"]);
  const screen = new Screen({ onKey: (key) => void (key === "q" && screen.close()), onResize: draw });
  for (;;) {
    facts = await watchedFacts();
    draw();
    await delay(RENEW_MS);
  }
}

/** A daemon that is stopping may not answer. */
async function watchedFacts(): Promise<Fact[]> {
  const { value: status, failure } = await attempt(Failure, daemonStatus);
  if (status !== null) return describeStatus(status, await readPayers(status));
  const { message, hint } = failure ?? (await explainAbsence());
  return [["daemon", message, "failure"], ...(hint === undefined ? [] : [["", hint] satisfies Fact])];
}

/** Says when the daemon runs another program than this command, and what replaces it. */
async function noteOtherProgram(status: DaemonStatus): Promise<void> {
  const difference = describeOtherProgram(status);
  if (difference === null) return;
  const { value: state } = await attempt(Failure, async () => (await findServiceManager()).state());
  note(`note: ${difference}; replace it with: ${replaceCommand(status, state)}`);
}

/** Returns the status as facts, one a line, with the age of each. */
function describeStatus(status: DaemonStatus, payers: Payers): Fact[] {
  const { config, ledger, lastError } = status;
  const age = (at: string) => formatAge(Date.parse(at), Date.parse(status.at));
  const state = status.state === "stopping" ? ", stopping" : "";
  const file = `${shownPath(config.path)}${config.exists ? "" : " (no such file; defaults)"}`;
  const rows: Fact[] = [
    ["health", ...describeVerdict(status)],
    ["daemon", `tollkeeper ${status.version}, pid ${status.pid}, started ${age(status.startedAt)}${state}`],
    ["listening", status.listening.join(" and ")],
    ...(typeof status.socket === "string"
      ? [["", `the socket ${shownPath(status.socket)}`] satisfies Fact]
      : []),
    ...accessRows(status.access),
    ...status.upstreams.flatMap((upstream) => upstreamRows(upstream, age)),
    ...pauseRows(status.pauses, age),
    ...captureRows(status),
    ...groupRows(status),
    ...budgetRows(status),
    ...limitRows(status),
    ...holdRows(status),
    ...status.outbound.map((sentence): Fact => ["", sentence]),
    ...mergeKeys(status.keys, age).flatMap((key) => keyRows(key, age, Date.parse(status.at))),
    ...payers.facts,
    ["config", `${file}, read ${age(config.loadedAt)}`],
    ...managedRows(config.managed),
    ...config.problems.map((problem): Fact => {
      const what = `not accepted ${age(config.judgedAt)}: ${formatProblem(config.path, problem)}`;
      return ["", what, "failure"];
    }),
    ...config.overruled.map((problem): Fact => ["", formatProblem(config.path, problem)]),
    [
      "ledger",
      `${shownPath(ledger.directory)}, ${ledger.written} written${ledgerProblem(ledger)}`,
      ledgerProblem(ledger) === "" ? "plain" : "failure",
    ],
    ...exportRows(status.export, age),
    ["requests", `${status.openExchanges} open`],
    ...refusedRows(status.refused, age),
  ];
  if (lastError !== null) rows.push(["last error", `${lastError.message} (${age(lastError.at)})`, "failure"]);
  return rows;
}

function shownPath(path: string): string {
  return displayPath(path, homeDirectory());
}

function accessRows({ mode, peerUid, tokens }: AccessStatus): Fact[] {
  const { registered, leased, problem } = tokens;
  const what = mode === "open" ? "open, no token required" : "local token required";
  const count = `${pluralize(registered, "token")} registered${leased === 0 ? "" : `, ${leased} leased`}`;
  const rows: Fact[] = [["access", `${what}; ${count}`]];
  if (peerUid.length > 0) rows.push(["", `other users admitted, by uid: ${peerUid.join(", ")}`]);
  if (problem !== null) rows.push(["", [problem.message, problem.hint].filter(Boolean).join("; ")]);
  else if (mode === "token" && registered + leased === 0)
    rows.push(["", "register one with: tollkeeper token add TOOL"]);
  return rows;
}

function managedRows(managed: DaemonStatus["config"]["managed"]): Fact[] {
  if (managed === null) return [];
  const locks = managed.locked.length === 0 ? "" : `, which locks ${managed.locked.join(", ")}`;
  return [["", `with the managed file ${shownPath(managed.path)}${locks}`]];
}

type DescribeAge = (at: string) => string;

function upstreamRows(upstream: DaemonStatus["upstreams"][number], age: DescribeAge): Fact[] {
  const { name, baseUrl, isSandbox, modelsProblem, cooldownMs, lastExchange, workedAt } = upstream;
  const { failing, lastFailure, credential } = upstream;
  const address = credential === "client" ? `${baseUrl}, with the key that each tool sends` : baseUrl;
  const where = isSandbox ? "built-in sandbox, made-up responses" : address;
  const rows: Fact[] = [["upstream", `${name}: ${where}`, "plain", upstreamRow(upstream, where, age)]];
  if (lastExchange !== null) {
    const { at, outcome, status } = lastExchange;
    const last = `last request: ${outcome}${status === null ? "" : `, status ${status}`}, ${age(at)}`;
    rows.push(["", last, "plain", "in row"]);
  }
  if (lastFailure !== null) {
    const worked = workedAt === null ? "" : `; it last worked ${age(workedAt)}`;
    const what =
      failing === null
        ? `last failure ${age(lastFailure.at)}: ${lastFailure.reason}`
        : `failing, ${age(lastFailure.at)}: ${failing.summary}`;
    rows.push(["", `${what}${worked}`, failing === null ? "plain" : "failure"]);
  }
  const isRejected = lastExchange?.status === 401 || lastExchange?.status === 403;
  if (isRejected && credential !== "client") rows.push(["", adviseOnKey(name)]);
  if (cooldownMs !== null) rows.push(["", describeCooldown(cooldownMs), "warning"]);
  if (modelsProblem !== null) rows.push(["", `its list of models is missing: ${modelsProblem}`, "warning"]);
  return rows;
}

/** The test knows where the key is kept, and says how to replace it there. */
function adviseOnKey(upstream: string): string {
  const option = upstream === "default" ? [] : ["--upstream", upstream];
  return `to test the key, type: ${formatCommand(["tollkeeper", "key", "test", ...option])}`;
}

function groupRows({ groups, access }: DaemonStatus): Fact[] {
  const rows = groups.map((group): Fact => {
    const { name, models, tools } = group;
    const allowed = models === null ? "all models" : `only ${models.join(" ")}`;
    return ["group", `${name}: ${allowed}, for ${formatTools(tools)}`, "plain", groupRow(group)];
  });
  return rows.length > 0 && access.mode === "open" ? [...rows, ["", OPEN_GROUPS]] : rows;
}

function pauseRows(pauses: DaemonStatus["pauses"], age: DescribeAge): Fact[] {
  return pauses.map((pause) => {
    return [
      "paused",
      `${describeScope(pause)}, ${age(pause.since)}; to go on, type: ${resumeCommand(pause)}`,
      "warning",
    ];
  });
}

/** A daemon of an earlier version sends none. */
function captureRows({ captures }: { captures?: DaemonStatus["captures"] }): Fact[] {
  return (captures ?? []).map((capture) => [
    "capture",
    describeCapture(capture),
    capture.state === "running" ? "warning" : "plain",
  ]);
}

function budgetRows({ budgets, lifts, at }: DaemonStatus): Fact[] {
  const rows = budgets.map((budget): Fact => {
    const text = `${nameBudget(budget)}: ${budget.percent}% spent`;
    return ["budget", text, toneOfBudget(budget), budgetRow(budget, Date.parse(at))];
  });
  return [...rows, ...lifts.map((lift): Fact => ["lifted", formatLift(lift, Date.parse(at)), "warning"])];
}

/** Of each account the window that is used most. A daemon of an earlier version sends none. */
function limitRows({ limits, at }: Pick<DaemonStatus, "at"> & { limits?: DaemonStatus["limits"] }): Fact[] {
  const now = Date.parse(at);
  return (limits ?? []).flatMap(({ account, windows: [first] }): Fact[] => {
    if (first === undefined) return [];
    const text = `${account}: ${describeLimit(first, now, localCalendar())}`;
    return [["limit", text, "plain", limitRow(account, first, now)]];
  });
}

/** A daemon of an earlier version sends none. */
function holdRows({ holds, at }: Pick<DaemonStatus, "at"> & { holds?: DaemonStatus["holds"] }): Fact[] {
  return (holds ?? []).map((hold, place, all) => [
    "waits",
    `${describeHold(hold, Date.parse(at), localCalendar())}; to let it pass, type: ${hold.lift}`,
    "warning",
    holdRow(hold, Date.parse(at), all[place + 1]?.lift !== hold.lift),
  ]);
}

function describeCooldown(cooldownMs: number): string {
  const probe =
    cooldownMs === 0
      ? "the next one tries it again"
      : `one tries it again in ${Math.ceil(cooldownMs / 1000)} s`;
  return `skipped after repeated failures: requests go to its fallback, and ${probe}`;
}

function refusedRows({ codes, checks, newest }: DaemonStatus["refused"], age: DescribeAge): Fact[] {
  const counts = Object.entries(codes).toSorted(([, one], [, other]) => other - one);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  const tests = checks === 0 ? "" : `${pluralize(checks, "request")} of tollkeeper check`;
  if (total === 0) return tests === "" ? [] : [["refused", tests]];
  const list = counts.map(([code, count]) => `${count} ${code}`).join(", ");
  const more = tests === "" ? "" : `, and ${tests}`;
  const rows: Fact[] = [
    ["refused", `${pluralize(total, "request")}: ${list}${more}`],
    ["", "to see new ones, type: tollkeeper tail"],
  ];
  if (newest !== null) {
    const { method, path, status, refused, ts } = newest;
    rows.push(["", `the latest without a record: ${method} ${path}, ${status} ${refused}, ${age(ts)}`]);
  }
  return rows;
}

/** Keys of the same name, source and state are one row with all of their upstreams. */
function mergeKeys(keys: readonly KeyStatus[], age: DescribeAge): KeyStatus[] {
  const merged = new Map<string, KeyStatus>();
  for (const key of keys) {
    const { name, source, state, at, workedAt, problem, expiresAt, refreshFailure } = key;
    const ages = [at, workedAt].map((time) => (time === null ? null : age(time)));
    const same = JSON.stringify([name, source, state, ages, problem, expiresAt, refreshFailure]);
    const first = merged.get(same);
    merged.set(
      same,
      first === undefined ? key : { ...first, upstream: `${first.upstream}, ${key.upstream}` },
    );
  }
  return [...merged.values()];
}

function keyRows(key: KeyStatus, age: DescribeAge, now: number): Fact[] {
  const { upstream, name, source, state, at, workedAt, problem, expiresAt } = key;
  const lookedUp = at === null ? "" : `, ${age(at)}`;
  const worked = problem === null || workedAt === null ? "" : `; last available ${age(workedAt)}`;
  const expiry = expiresAt === null ? "" : `; ${describeExpiry(Date.parse(expiresAt), now, localCalendar())}`;
  const row: Fact = [
    "key",
    `"${name}" for upstream${upstream.includes(", ") ? "s" : ""} ${upstream}: ${state === "not_asked" ? "not asked yet" : state} (${source}${lookedUp}${worked}${expiry})`,
    "plain",
    keyRow(key, `${lookedUp}${worked}${expiry}`),
  ];
  if (problem !== null) return [row, ["", problem, "failure"]];
  if (key.refreshFailure === null) return [row];
  const { at: failedAt, problem: why } = key.refreshFailure;
  return [row, ["", `could not be refreshed ${age(failedAt)}: ${why}`, "failure"]];
}

function exportRows(exported: DaemonStatus["export"], age: (at: string) => string): Fact[] {
  if (exported === null) return [];
  const { endpoint, counts, lastAcceptedAt, problem, rejection } = exported;
  const lost = counts.rejected + counts.skipped;
  const last = lastAcceptedAt === null ? "" : `, last accepted ${age(lastAcceptedAt)}`;
  const rows: Fact[] = [["export", `${endpoint}, ${counts.sent} sent${last}`]];
  if (problem !== null)
    rows.push(["", `nothing accepted, first failure ${age(problem.since)}: ${problem.reason}`, "failure"]);
  if (problem !== null && problem.hint !== null) rows.push(["", problem.hint]);
  if (lost > 0) rows.push(["", `${lost} not accepted${rejection === null ? "" : `: ${rejection}`}`]);
  return rows;
}

function ledgerProblem({ waiting, lost, lastError }: LedgerHealth): string {
  if (waiting === 0 && lost === 0) return "";
  return `, ${waiting} waiting, ${lost} lost: ${lastError ?? "unknown"}`;
}
