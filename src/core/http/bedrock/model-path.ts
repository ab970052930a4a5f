/** What is asked of a model at Amazon Bedrock (docs/wire.md section 14). */
export const BEDROCK_ACTIONS = [
  "invoke",
  "invoke-with-response-stream",
  "converse",
  "converse-stream",
  "count-tokens",
] as const;

type BedrockAction = (typeof BEDROCK_ACTIONS)[number];

/** How all paths of Bedrock begin that name a model. */
const ROOT = "/model/";

/** Returns the path of the route for what is asked of a model. */
export function bedrockRoute(action: BedrockAction): string {
  return `${ROOT}{id}/${action}`;
}

/** A path of Bedrock's API, which names a model. */
export interface BedrockPath {
  /** The model's id or ARN, decoded: `us.anthropic.claude-sonnet-4-5-20250929-v1:0`. */
  model: string;
  action: BedrockAction;
  /** Where it stands in the path, encoded. */
  start: number;
  end: number;
}

/** Longer than any ARN of a model, encoded. */
const MAX_LENGTH = 512;

/** A segment with the only escapes that a client needs: those of the colon and, in an ARN, of the slash. */
const PATH = /^\/model\/((?:[A-Za-z0-9._:-]|%3[Aa]|%2[Ff])+)\/([a-z-]+)$/;

/** The id of a model or an inference profile, decoded. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/;

/** The ARN of anything that can take a model's place. Each part after a slash begins like an id, so none is `..`. */
const ARN =
  /^arn:aws(?:-[a-z]+)*:(?:bedrock|sagemaker):[a-z0-9-]{1,20}:(?:\d{12})?:[a-z-]+(?:\/[A-Za-z0-9][A-Za-z0-9._:-]*){1,3}$/;

/**
 * Returns the model that a raw path of Bedrock's API without query and tool mark names; null for any other path, and for one that does not
 * name it clearly. It is strict, because the service must not read another model in the path than the budgets and rules here: one
 * segment, no escapes but `%3A` and `%2F`, a slash only within an ARN, and an action that is known (SECURITY.md B2).
 */
export function readBedrockPath(path: string): BedrockPath | null {
  const [, raw = "", asked] = PATH.exec(path) ?? [];
  const action = BEDROCK_ACTIONS.find((known) => known === asked);
  if (action === undefined || raw.length > MAX_LENGTH) return null;
  const model = decodeURIComponent(raw);
  return isModel(model) ? { model, action, start: ROOT.length, end: ROOT.length + raw.length } : null;
}

function isModel(name: string): boolean {
  return NAME.test(name) || ARN.test(name);
}

/** True for a raw path that seems to be one of Bedrock's, whatever its model, and whether it is forwarded or not. */
export function isLikeBedrock(path: string): boolean {
  return /\/(?:model\/[^/]+\/(?:invoke|converse|count-tokens)(?:$|-)|guardrail\/[^/]+\/version\/)/.test(path);
}

/** Returns the path with another model in its place; null for a name that no such path can have. */
export function replaceBedrockModel(
  path: string,
  { start, end }: Pick<BedrockPath, "start" | "end">,
  model: string,
): string | null {
  if (!isModel(model)) return null;
  const replaced = path.slice(0, start) + encodeURIComponent(model) + path.slice(end);
  return readBedrockPath(replaced)?.model === model ? replaced : null;
}

/** What may end the path of a base URL, and is no part of Bedrock's paths: the word that they begin with, or that of another API there. */
const AT_END = /\/(?:model|(?:openai\/)?v1)$/;

/** Returns an upstream's base path for Bedrock's paths. */
export function bedrockBasePath(basePath: string): string {
  return basePath.replace(AT_END, "");
}
