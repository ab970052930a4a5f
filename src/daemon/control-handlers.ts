import type { ControlHandlers } from "../adapters/control-socket.ts";
import type { PauseScope } from "../core/policy/pauses.ts";
import type { Api } from "../core/http/api.ts";
import { groupOfTool } from "../core/policy/tool-access.ts";
import { Failure } from "../core/failure.ts";
import { toPrintable } from "../core/text/printable.ts";
import type { Log } from "../ports.ts";
import type { ApprovedPages } from "../local/dashboard/approved-pages.ts";
import { listRunning } from "./dashboard/feed-sources.ts";
import type { AssembledGate } from "./assemble-gate.ts";
import type { DaemonPauses } from "./pauses.ts";
import type { Refusal } from "../core/refusals/refusal.ts";
import type { DecisionNow } from "./control/answer-shapes.ts";
import { describeDaemon, failingUpstream, type StatusParts } from "./status.ts";

/** What the commands of the control socket act on. */
interface ControlParts extends AssembledGate, StatusParts {
  pauses: DaemonPauses;
  sessions: ApprovedPages;
  log: Log;
}

/** Returns what the daemon does for each command of the control socket. */
export function controlHandlers(parts: ControlParts): ControlHandlers {
  const {
    budgets,
    captures,
    exporter,
    feed,
    gate,
    keyring,
    lifecycle,
    limits,
    metrics,
    pauses,
    sessions,
    tokens,
  } = parts;
  const openStatusline = async () => {
    const { Statusline } = await import("./statusline.ts");
    const failing = () =>
      Object.keys(gate.settings.config.upstreams).filter((name) => failingUpstream(name, parts) !== null);
    return new Statusline({ ...parts, failing });
  };
  let statusline: ReturnType<typeof openStatusline> | null = null;
  return {
    statusline: async (query) => (await (statusline ??= openStatusline())).answer(query.get("session")),
    metrics: () => metrics.answer(),
    async budgets() {
      await budgets.counting;
      return budgets.describe();
    },
    limits: () => ({
      at: new Date(parts.clock.now()).toISOString(),
      accounts: limits.describe(),
      holds: limits.listHolds(gate.settings),
    }),
    "lift-budgets": (query) => budgets.lift(query.get("tool"), Number(query.get("ms"))),
    "reset-budget": (query) => budgets.reset(query.get("id") ?? ""),
    pause(query) {
      const scope = readScope(query, parts);
      pauses.pause(scope);
      const cut = query.get("cut") === "1" ? gate.cut((tool) => isIn(scope, tool, parts)) : 0;
      return { pauses: pauses.all, cut };
    },
    resume(query) {
      const wasPaused = pauses.resume(readScope(query, parts));
      return { pauses: pauses.all, wasPaused };
    },
    status: () => describeDaemon(parts),
    "test-keys": async (query) => (await import("./control/test-keys.ts")).testKeys(query, parts),
    running: () => listRunning(parts),
    "approve-dashboard"(query) {
      if (sessions.approve(query.get("code") ?? "")) return {};
      const shown = toPrintable(query.get("code") ?? "");
      throw new Failure(
        `no page waits with the code ${shown}: it is mistyped, or older than five minutes`,
        "type the code that the page shows now: tollkeeper dashboard --approve CODE",
      );
    },
    async decide(query) {
      await budgets.counting;
      const [tool, api, model] = [query.get("tool"), query.get("api") as Api, query.get("model") ?? ""];
      const account = query.get("account");
      const refusal =
        account === null || tool === null
          ? gate.refusalFor({ tool, api, model })
          : gate.planRefusalFor({ tool, api, model, account });
      const config = parts.source.status().path;
      return { config, account, refusal: refusal === null ? null : toWords(refusal) };
    },
    captures: () => ({ captures: captures.describe(), requests: captures.list() }),
    "start-capture"(query) {
      const most = query.get("max");
      return captures.start({
        tool: query.get("tool") ?? "",
        forMs: Number(query.get("for")),
        keepMs: Number(query.get("keep")),
        most: most === null ? null : Number(most),
      });
    },
    "stop-capture": (query) => ({ stopped: captures.stop(query.get("tool") ?? "") }),
    "delete-capture": async (query) => ({ deleted: await captures.delete(query.get("id")) }),
    async captured(query) {
      const found = await captures.read(query.get("id") ?? "");
      if (found !== null) return found;
      throw new Failure(
        "the request is no longer kept",
        "to see those that are, type: tollkeeper capture list",
      );
    },
    "check-pass": () => ({ pass: gate.checkPass.issue() }),
    "end-dashboard-sessions": () => sessions.endAll(),
    reload: () => lifecycle.reload(),
    "keys-changed"() {
      keyring.forget();
      exporter.restart();
    },
    "tokens-changed": () => tokens.reload(),
    drain: () => lifecycle.stop(),
    tail: (send) => feed.watch(send),
    lease: (tool, hash) => tokens.lease(tool, hash),
  };
}

/** @throws Failure for a group that the configuration does not have, unless it is paused */
function readScope(query: URLSearchParams, { gate, pauses }: ControlParts): PauseScope {
  const [tool, group] = [query.get("tool"), query.get("group")];
  if (tool !== null) return { kind: "tool", name: tool };
  if (group === null) return { kind: "all" };
  const { groups } = gate.settings.config;
  const isPaused = pauses.all.some((pause) => pause.kind === "group" && pause.name === group);
  if (!Object.hasOwn(groups, group) && !isPaused) {
    const names = Object.keys(groups).join(", ");
    throw new Failure(
      `the configuration has no group "${toPrintable(group)}"`,
      names === "" ? "name a tool, or --all" : `name one of: ${names}`,
    );
  }
  return { kind: "group", name: group };
}

function isIn(scope: PauseScope, tool: string, { gate }: ControlParts): boolean {
  if (scope.kind === "all") return true;
  return scope.name === (scope.kind === "tool" ? tool : groupOfTool(gate.settings.config, tool)?.name);
}

function toWords({ code, problem, reason, advice, command }: Refusal): DecisionNow["refusal"] {
  return { code, problem, reason, advice, command };
}
