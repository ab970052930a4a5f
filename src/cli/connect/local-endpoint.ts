import { existsSync, readdirSync } from "node:fs";
import { currentHost } from "../../adapters/paths.ts";
import type { Config, Upstream } from "../../core/config/config.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import type { Api } from "../../core/http/api.ts";
import { PLACEHOLDER_PREFIX } from "../../core/identity/tool-identity.ts";
import { PLAN_SEGMENT } from "../../core/plans/names.ts";
import { upstreamsForTool } from "../../core/policy/tool-access.ts";
import { NO_REACH, PLAN_REACH, reachOfTool } from "../../core/policy/tool-reach.ts";
import { testByDaemon, toFailure } from "../keys/test-as-daemon.ts";
import { requireDaemon } from "../service/explain-absence.ts";
import { inferModelApi } from "../../tools/recipe/settings.ts";
import type { Account, LocalEndpoint, ToolHost } from "../../tools/tool.ts";
import { note } from "../terminal/console.ts";
import { withLease } from "../tokens/lease.ts";
import { locateDaemon, type LocalDaemon } from "./locate-daemon.ts";
import { requestModelList, type ModelList } from "./request-model-list.ts";
import type { SelectedTool } from "./select-tool.ts";
import { findWorkingDirectory } from "../../adapters/program.ts";

/** How long a person may wait for what is only an improvement. */
const AT_ONCE_MS = 2_000;

/** The name for requests that are tollkeeper's own. */
const OWN_NAME = "tollkeeper";

/** Matches the names of models that services list, and that tools cannot chat with. */
const OTHER_MODELS = /embed|rerank|whisper|tts|transcribe|audio|realtime|image|dall-e|sora|moderation/i;

/**
 * Returns the base URL, credential and model for a tool.
 * @param token null for a placeholder credential
 * @param model the requested one; undefined lets the daemon's list decide
 * @param apis those whose models fit, the preferred one first; none when the tool needs no model
 * @throws Failure when the tool needs a model and none is known
 */
export async function resolveEndpoint(
  selected: SelectedTool,
  daemon: LocalDaemon,
  token: string | null,
  model: string | undefined,
  apis = selected.tool.modelApis,
): Promise<LocalEndpoint> {
  const chosen = model ?? (await chooseModel(selected, apis, daemon));
  const reach = reachOfTool(daemon.config, selected.name, chosen);
  const smallModel = await findSmallModel(selected, daemon);
  return { ...buildEndpoint(selected.name, daemon.port, token, chosen), smallModel, reach };
}

/** Returns an endpoint for callers that do not depend on it, for example to see where a tool keeps its settings. */
export function placeholderEndpoint(name: string, token: string | null = null): LocalEndpoint {
  return buildEndpoint(name, 0, token, "any");
}

/** Returns the endpoint of an existing connection, whose model is the tool's own choice. */
export function connectedEndpoint(
  name: string,
  port: number | null,
  account: Account = "key",
  token: string | null = null,
): LocalEndpoint {
  const endpoint = buildEndpoint(name, port ?? 0, token, null);
  return account === "plan" ? toPlanEndpoint(endpoint) : endpoint;
}

function buildEndpoint(
  name: string,
  port: number,
  token: string | null,
  model: string | null,
): LocalEndpoint {
  return {
    baseUrl: `http://127.0.0.1:${port}/t/${name}`,
    // The placeholder names the tool, too, for clients that drop the path of the base URL (docs/wire.md section 2).
    credential: token ?? PLACEHOLDER_PREFIX + name,
    isToken: token !== null,
    model,
    smallModel: null,
    isFirstParty: false,
    reach: NO_REACH,
    account: "key",
  };
}

/** Returns the endpoint at which the tool's own plan pays. Its origin is a constant, and nothing is known of its models. */
export function toPlanEndpoint(endpoint: LocalEndpoint): LocalEndpoint {
  const baseUrl = `${endpoint.baseUrl}${PLAN_SEGMENT}`;
  return { ...endpoint, baseUrl, account: "plan", smallModel: null, reach: PLAN_REACH };
}

/**
 * Returns what decides where tools keep their settings on this machine. A working directory that was deleted holds none: it is
 * named as the shell does, by a path at which nothing exists.
 */
export function readToolHost(): ToolHost {
  const directory = findWorkingDirectory() ?? process.env["PWD"] ?? "/";
  return { ...currentHost(), directory, exists: existsSync, list: listNames };
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/**
 * Returns the first model of the daemon's list that fits one of the APIs, and prints it; null without any API.
 * @throws Failure, naming `--model`, when no model is found
 */
async function chooseModel(
  { tool: { title }, name }: SelectedTool,
  apis: readonly Api[],
  daemon: LocalDaemon,
): Promise<string | null> {
  if (apis.length === 0) return null;
  if (!daemon.isRunning) throw noModel(title, "tollkeeper is not running, so no model can be looked up");
  const models = await listModels(name, daemon).catch((error: unknown) => {
    throw noModel(title, `tollkeeper could not list its models: ${messageOf(error)}`);
  });
  const known = models.filter((id) => !OTHER_MODELS.test(id));
  const [model] = apis.flatMap((api) => known.filter((id) => inferModelApi(id) === api));
  if (model === undefined) throw noModel(title, "none of the listed models is known to work");
  note(`model: ${model}, the first suitable one; to use another, add: --model MODEL`);
  return model;
}

/**
 * Returns the first listed model for a tool's background requests; null where the tool needs none, or none is listed at once: `run` asks
 * each time, and a person waits for it.
 */
async function findSmallModel(
  { tool: { smallModels }, name }: SelectedTool,
  daemon: LocalDaemon,
): Promise<string | null> {
  if (smallModels === undefined || !daemon.isRunning) return null;
  const models = await listModels(name, daemon, AT_ONCE_MS).catch(() => []);
  return models.find((id) => smallModels.test(id)) ?? null;
}

async function listModels(name: string, { port, config }: LocalDaemon, limitMs?: number): Promise<string[]> {
  const { models } = await requestAs(name, port, config, limitMs);
  return models.map(({ id }) => id);
}

/**
 * Returns the models that the running daemon lists for a tool, and its configuration. Rejects when it does not run or does not
 * answer.
 */
export async function listRunningModels(
  tool = OWN_NAME,
  configFile?: string,
): Promise<ModelList & { config: Config }> {
  const status = await requireDaemon();
  const { port, config } = await locateDaemon(status, configFile);
  const list = await requestAs(tool, port, config).catch(async (error: unknown) => {
    const ofUpstream = await findUpstreamFailure(upstreamsForTool(config, tool), status.config.path, config);
    throw ofUpstream ?? new Failure(`tollkeeper could not list the models: ${messageOf(error)}`, SEE_STATUS);
  });
  return { ...list, config };
}

/**
 * Requests the list under the name of a tool that the configuration names. Any other tool gets the same list as tollkeeper itself, under
 * whose name it is requested: the record would make a mistyped name that of a tool which has sent requests.
 */
function requestAs(tool: string, port: number, config: Config, limitMs?: number): Promise<ModelList> {
  const name = Object.hasOwn(config.tools, tool) ? tool : OWN_NAME;
  return withLease(config, name, (token) =>
    requestModelList(buildEndpoint(name, port, token, null), limitMs),
  );
}

const SEE_STATUS = "see its state with: tollkeeper status";

/** Returns what `key test` says of the first of these upstreams that does not list its models; null when all do. */
async function findUpstreamFailure(
  upstreams: readonly Upstream[],
  configFile: string,
  { outbound }: Config,
): Promise<Failure | null> {
  const asked = await testByDaemon(configFile);
  const failed = asked?.tests.find(
    ({ upstream, failure }) => failure !== null && upstreams.some(({ name }) => name === upstream),
  );
  if (asked === null || failed === undefined || failed.failure === null) return null;
  return toFailure(failed.failure, asked.trust, outbound);
}

function noModel(title: string, why: string): Failure {
  return new Failure(`${title} needs a model, and ${why}`, "add to the command: --model MODEL");
}
