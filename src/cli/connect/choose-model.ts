import { request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { Failure } from "../../core/failure.ts";
import { messageOf } from "../../core/thrown.ts";
import { note } from "../terminal/console.ts";
import { withLease } from "../tokens/lease.ts";
import { placeholderCredential, toolBaseUrl, type LocalDaemon } from "./locate-daemon.ts";
import type { SelectedTool } from "./select-tool.ts";

/** For the whole request to the daemon, which asks the upstream. */
const TIMEOUT_MS = 10_000;

/** Matches the names of the models that each API serves. */
const MODEL_NAMES = { messages: /^claude/i, responses: /^(?:gpt|o\d)/i };

/**
 * Returns the model to configure: the requested one, else the first of the daemon's list that fits the tool's API, which
 * is printed. null for a tool that needs none.
 * @throws Failure, naming `--model`, when no model is found
 */
export async function chooseModel(
  { tool: { title, modelApi }, name }: SelectedTool,
  requested: string | undefined,
  { port, config, isRunning }: LocalDaemon,
): Promise<string | null> {
  if (requested !== undefined || modelApi === null) return requested ?? null;
  if (!isRunning) throw noModel(title, "tollkeeper is not running, and so cannot be asked for one");
  const models = await withLease(config, name, (token) =>
    listModels(toolBaseUrl(port, name), token ?? placeholderCredential(name)),
  ).catch((error: unknown) => {
    throw noModel(title, `tollkeeper was asked for one in vain: ${messageOf(error)}`);
  });
  const model = models.find((id) => MODEL_NAMES[modelApi].test(id));
  if (model === undefined) throw noModel(title, "none of those that tollkeeper lists is known to fit");
  note(`model: ${model}, the first that fits; another one: --model MODEL`);
  return model;
}

function noModel(title: string, why: string): Failure {
  return new Failure(`${title} must be told a model, and ${why}`, "name one: --model MODEL");
}

async function listModels(baseUrl: string, credential: string): Promise<string[]> {
  const response = await get(new URL(`${baseUrl}/v1/models`), credential);
  const body = await text(response);
  if (response.statusCode !== 200) throw new Error(`it answers ${response.statusCode}`);
  const { data } = JSON.parse(body) as { data?: unknown };
  if (!Array.isArray(data)) throw new Error("its answer is no list");
  const ids = data.map((entry: unknown) => (entry as { id?: unknown } | null)?.id);
  return ids.filter((id) => typeof id === "string");
}

function get(url: URL, credential: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${credential}` };
  return new Promise((resolve, reject) => {
    request(url, { headers, agent: false, signal: AbortSignal.timeout(TIMEOUT_MS) }, resolve)
      .once("error", reject)
      .end();
  });
}
