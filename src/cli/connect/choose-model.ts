import { request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { Failure } from "../../core/failure.ts";
import { messageOf } from "../../core/thrown.ts";
import { note } from "../terminal/console.ts";
import type { TargetTool } from "./destination.ts";
import { baseUrlOf, placeholderOf, type LocalAddress } from "./local-address.ts";
import { withLease } from "../tokens/lease.ts";

/** For the upstream's answer, milliseconds. */
const LIMIT_MS = 10_000;

/** How the models are called that each API serves. */
const FITTING = { messages: /^claude/i, responses: /^(?:gpt|o\d)/i };

/**
 * The model that a tool is to be told: the one that the person asks for, else the first that fits of those that the
 * daemon lists, and that is said. null where it needs none. Throws a Failure naming `--model` where none is found.
 */
export async function chooseModel(
  { recipe: { title, modelOf }, tool }: TargetTool,
  asked: string | undefined,
  { port, config, isRunning }: LocalAddress,
): Promise<string | null> {
  if (asked !== undefined || modelOf === null) return asked ?? null;
  if (!isRunning) throw noModel(title, "tollkeeper is not running, and so cannot be asked for one");
  const models = await withLease(config, tool, (token) =>
    listModels(baseUrlOf(port, tool), token ?? placeholderOf(tool)),
  ).catch((error: unknown) => {
    throw noModel(title, `tollkeeper was asked for one in vain: ${messageOf(error)}`);
  });
  const model = models.find((id) => FITTING[modelOf].test(id));
  if (model === undefined) throw noModel(title, "none of those that tollkeeper lists is known to fit");
  note(`model: ${model}, the first that fits; another one: --model MODEL`);
  return model;
}

function noModel(title: string, why: string): Failure {
  return new Failure(`${title} must be told a model, and ${why}`, "name one: --model MODEL");
}

async function listModels(baseUrl: string, credential: string): Promise<string[]> {
  const answer = await get(new URL(`${baseUrl}/v1/models`), credential);
  const body = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`it answers ${answer.statusCode}`);
  const { data } = JSON.parse(body) as { data?: unknown };
  if (!Array.isArray(data)) throw new Error("its answer is no list");
  const ids = data.map((entry: unknown) => (entry as { id?: unknown } | null)?.id);
  return ids.filter((id) => typeof id === "string");
}

function get(url: URL, credential: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${credential}` };
  return new Promise((resolve, reject) => {
    request(url, { headers, agent: false, signal: AbortSignal.timeout(LIMIT_MS) }, resolve)
      .once("error", reject)
      .end();
  });
}
