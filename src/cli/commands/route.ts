import { ledgerDirectory } from "../../adapters/paths.ts";
import type { Config } from "../../core/config/config.ts";
import { APIS } from "../../core/http/api.ts";
import { guessApi } from "../../core/http/routes.ts";
import type { UsageRecord } from "../../core/ledger/record.ts";
import { hasPlanLogin } from "../../core/plans/names.ts";
import type { RoutedRequest } from "../../core/decide/explain.ts";
import { defineCommand } from "../command.ts";
import { findRecord } from "../ledger/find-record.ts";
import { noteSimilarModels } from "../known-models.ts";
import { noteSimilarTool } from "../known-tools.ts";
import { loadConfig, resolveConfigPath } from "../load-config.ts";
import { noteOtherConfig } from "../note-other-config.ts";
import { EXIT, print, printJson } from "../terminal/console.ts";
import { printProse } from "../terminal/prose.ts";
import { localTime } from "../terminal/short-time.ts";
import { formatTable } from "../terminal/table.ts";
import { explainRequest, type ExplainedRoute, type GroupVerdict } from "./route/explain-request.ts";
import { askForRefusal, describeRefusal } from "./route/now.ts";
import { describeHolds, findPlanAddress, type PlanAddress } from "./route/plan-address.ts";
import {
  OTHER_COLUMNS,
  ROUTE_COLUMNS,
  routeRows,
  summariseRoutes,
  type RouteSummary,
} from "./route/summary.ts";

const NEEDS_ONE = '"route" needs the name of a model, or --explain with the id of a record';

/** `tollkeeper route`: says which upstream a request for a model goes to, and why not to each of the others. */
export const command = defineCommand({
  builder: (yargs) =>
    yargs
      .positional("model", { type: "string", describe: "The model that the request names" })
      .option("config", { type: "string" })
      .option("tool", { type: "string", describe: "Tool that sends the request; default: any" })
      .option("api", { choices: APIS, describe: "API of the request; default: each of them" })
      .option("explain", {
        type: "string",
        describe: "Id of a record, whose request to explain; last: the newest",
      })
      .option("all", {
        type: "boolean",
        default: false,
        describe: "Say it for each API and each upstream",
      })
      .option("json", { type: "boolean", default: false, describe: "Print JSON" })
      .check(({ model, explain }) => (model === undefined) !== (explain === undefined) || NEEDS_ONE),
  handler: async ({ config: file, tool = null, api, model = "", explain, all, json }) => {
    const config = await loadConfig(file);
    await noteOtherConfig(file);
    const record = explain === undefined ? null : await findRecord(ledgerDirectory(config), explain);
    const requests =
      record === null
        ? (api === undefined ? APIS : [api]).map((one) => ({ tool, api: one, model }))
        : [toRequest(record)];
    const plan = await findPlanAddress(config, requests[0]?.tool ?? null, record);
    const isPlanned = record !== null && hasPlanLogin(record.upstream);
    const routes = requests.map((request) => explainRequest(config, request, isPlanned));
    const account = isPlanned ? (plan?.account ?? null) : null;
    // A plan that may not pass needs no question.
    const refusals =
      isPlanned && plan === null
        ? []
        : await Promise.all(
            requests.map((request) => askForRefusal(resolveConfigPath(file), request, account)),
          );
    if (json)
      printJson(
        routes.map(({ request, ...route }, index) => ({
          ...request,
          recorded: record?.upstream ?? null,
          ...route,
          plan,
          refused: refusals[index] ?? null,
        })),
      );
    else {
      printRoutes(config, routes, { record, plan, all });
      const refusal = refusals.find((one) => one !== null);
      if (refusal !== undefined) print(describeRefusal(refusal));
      // The request's own address is above.
      if (plan !== null && !isPlanned) for (const hold of describeHolds(plan)) print(hold);
    }
    if (record === null) {
      await noteSimilarTool(tool, config);
      await noteSimilarModels([routes[0]?.alias ?? model], file);
    }
    const isServed = routes.some(
      ({ choices, group }, index) =>
        (refusals[index] ?? null) === null &&
        !(isPlanned && plan === null) &&
        ((choices.length === 0 && group?.isAllowed !== false) || choices.some(({ isChosen }) => isChosen)),
    );
    if (!isServed) process.exitCode = EXIT.failed;
  },
});

function printRoutes(
  config: Config,
  routes: readonly ExplainedRoute[],
  { record, plan, all }: { record: UsageRecord | null; plan: PlanAddress | null; all: boolean },
): void {
  const [first] = routes;
  if (record !== null)
    print(
      `${localTime(record.ts)}: ${record.tool} requested ${record.model_requested} on ${record.route}, and ${record.outcome === "rejected" ? `tollkeeper refused it (${record.error_type})` : `${record.upstream} served it`}`,
    );
  if (typeof first?.alias === "string") print(`${first.request.model} is an alias of ${first.alias}`);
  if (first?.group) print(describeGroup(first.group));
  if (record !== null && hasPlanLogin(record.upstream)) {
    print(describePlanned(record, plan));
    return;
  }
  if (Object.keys(config.upstreams).length === 0) {
    print("no upstream is configured: the built-in sandbox responds to every request");
    return;
  }
  if (typeof record?.attempt_of === "string")
    print(
      `it was asked because another upstream had done nothing with the request: tollkeeper route --explain ${record.attempt_of}`,
    );
  if (record !== null) print("With the present configuration:");
  if (all) print(formatTable(ROUTE_COLUMNS, routeRows(routes)));
  else printSummary(summariseRoutes(routes));
}

function printSummary({ answers, others }: RouteSummary): void {
  printProse(answers);
  if (others.length === 0) return;
  print(`\n${formatTable(OTHER_COLUMNS, others)}`);
}

/** Where a request of a plan goes, no configuration decides: only whether it may. */
function describePlanned({ tool }: UsageRecord, plan: PlanAddress | null): string {
  if (plan !== null)
    return `At the address of its plan, every request of ${tool} goes to ${plan.baseUrl}, with its own login`;
  return `With the present configuration, tollkeeper refuses it: "plans" does not list ${tool}\nTo change that, type: tollkeeper connect ${tool} --account plan`;
}

function describeGroup({ group, models, isAllowed }: GroupVerdict): string {
  const verdict = isAllowed ? "allows the model" : "does not allow the model: the request is refused";
  const change = isAllowed
    ? ""
    : `; to change that, type: tollkeeper group set ${group} --models PATTERN,...`;
  return `group ${group} (${models.join(" ")}) ${verdict}${change}`;
}

function toRequest({ tool, route, model_requested: model }: UsageRecord): RoutedRequest {
  return { tool, api: guessApi(route), model: model ?? "" };
}
