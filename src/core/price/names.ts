/**
 * What services and gateways put before the name of a model, and the provider in the price table whose prices it then has:
 * the prefixes of LiteLLM (https://docs.litellm.ai/docs/providers) and of OpenRouter (https://openrouter.ai/models).
 */
const PREFIXES: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  azure: "azure",
  azure_ai: "azure",
  bedrock: "aws",
  bedrock_converse: "aws",
  cerebras: "cerebras",
  cohere: "cohere",
  deepseek: "deepseek",
  fireworks_ai: "fireworks",
  gemini: "google",
  google: "google",
  groq: "groq",
  meta: "meta",
  minimax: "minimax",
  mistral: "mistral",
  mistralai: "mistral",
  moonshot: "moonshotai",
  moonshotai: "moonshotai",
  openai: "openai",
  openrouter: "openrouter",
  perplexity: "perplexity",
  together_ai: "together",
  vercel_ai_gateway: "vercel-ai-gateway",
  vertex_ai: "google",
  "x-ai": "x-ai",
  xai: "x-ai",
  xiaomi: "xiaomi",
  "z-ai": "zai",
  zai: "zai",
};

/** Variants of a model that a gateway sells at other prices (https://openrouter.ai/docs/guides/routing/model-variants). */
const OTHER_PRICE = /:(?:free|batch|online|nitro|floor|extended)$/;

/** Where Bedrock runs a model (https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html). */
const REGION = /^(?:us-gov|us|eu|apac|global|jp|au|ca|in)\.(?=[a-z0-9]+\.)/;

/** Who made a model, as Bedrock writes it. */
const BEDROCK_MAKER =
  /^(?:amazon|anthropic|deepseek|google|meta|minimax|mistral|moonshot(?:ai)?|nvidia|openai|qwen|writer|xai|zai)\./;

/** Bedrock's version of a model: `-v1:0`, `-v2`, `-v1:0:200k`, `-1:0`. */
const BEDROCK_VERSION = /(?:-v\d+(?::\d+(?::\d+k)?)?|(?:-\d+)?:\d+)$/;

/** Ends of a name after which the rest is the same model at the same price. They may follow each other, in this order. */
const ENDS: readonly (readonly [end: RegExp, kept: string])[] = [
  // What tools add to ask for a long context or for thinking.
  [/\[1m\]$/, ""],
  [/:(?:thinking|beta|exacto)$/, ""],
  // Vertex names the version of a model.
  [/@(?:default|latest)$/, ""],
  [/@(?=\d+$)/, "-"],
  // The newest of a version. Without a version, as in `gemini-flash-latest`, it is now this model and then that.
  [/(?<=\d)-latest$/, ""],
  [/-20\d{2}-?\d{2}-?\d{2}$/, ""],
];

/** A name that a model may have in the price table. */
export interface Spelling {
  name: string;
  /** The provider that the whole name says it is from; null when it says none. */
  provider: string | null;
  /** True for a name as Bedrock writes it. */
  isBedrock: boolean;
}

/**
 * Returns the names that a model may have in the price table, the one that was asked for first. Services and gateways write the
 * same model in many ways: `openai/gpt-5`, `anthropic/claude-sonnet-4.5`, `us.anthropic.claude-sonnet-4-5-20250929-v1:0`,
 * `models/gemini-2.5-pro`, `claude-sonnet-4-5@20250929`, `claude-sonnet-4-5-latest`. A part is left out only where the rest is a
 * model at the same price: a fine-tuned model keeps its `ft:`, and what is `:free` or `:batch` is looked up as such.
 */
export function spellingsOf(model: string): readonly Spelling[] {
  const found = new Map<string, Spelling>();
  const add = (name: string, provider: string | null, isBedrock = false): void => {
    for (const one of [name, ...versionsOf(name)]) {
      const key = `${provider} ${one}`;
      found.set(key, { name: one, provider, isBedrock: isBedrock || found.get(key)?.isBedrock === true });
    }
  };
  let name = model.toLowerCase().trim();
  let provider = name.startsWith("ft:") ? "openai" : null;
  // OpenRouter's own names for the newest of a family begin with a tilde.
  add(name, OTHER_PRICE.test(name) || name.startsWith("~") ? "openrouter" : provider);
  for (let slash = name.indexOf("/"); slash !== -1; slash = name.indexOf("/")) {
    provider = PREFIXES[name.slice(0, slash)] ?? provider;
    name = name.slice(slash + 1);
    if (!OTHER_PRICE.test(name)) add(name, provider);
    else if (provider === "openrouter") add(name, provider);
  }
  if (REGION.test(name) || BEDROCK_MAKER.test(name)) name = addBedrock(name, provider, add);
  for (const [end, kept] of ENDS) {
    const shorter = name.replace(end, kept);
    if (shorter !== name) add((name = shorter), provider);
  }
  return [...found.values()];
}

/** Adds the spellings of a name of Bedrock's, and returns it as its maker writes it. */
function addBedrock(
  name: string,
  provider: string | null,
  add: (name: string, provider: string | null, isBedrock: boolean) => void,
): string {
  const unversioned = name.replace(BEDROCK_VERSION, "");
  const bare = unversioned.replace(REGION, "").replace(BEDROCK_MAKER, "");
  add(bare, null, false);
  add(name, provider, true);
  add(unversioned, provider, true);
  // A model in the regions of a continent costs as much as in one of them; in any region of the world it may cost less.
  if (!name.startsWith("global.")) add(unversioned.replace(REGION, ""), provider, true);
  return bare;
}

/** Returns a name with its version written in other ways: `4.5` for `4-5`, `4-5` for `4.5`, and `2026-03-05` for `20260305`. */
function versionsOf(name: string): string[] {
  return [
    name.replaceAll(/-(20\d{2})(\d{2})(\d{2})(?=-|:|$)/g, "-$1-$2-$3"),
    name.replaceAll(/(?<!\d)(\d)\.(\d{1,2})(?!\d)/g, "$1-$2"),
    name.replaceAll(/(?<!\d)(\d)-(\d{1,2})(?=$|[-@:[])/g, "$1.$2"),
  ];
}

/** Words of a name that do not tell a model's family. */
const NO_FAMILY = /^(?:latest|preview|exp|beta|default|free|ft|v)$/;

/**
 * Returns what a model's name has in common with those of other versions of it: the words without numbers (`claude-sonnet` of
 * `us.anthropic.claude-sonnet-5-5-v1:0`), and the first of them (`claude`). Empty where there are none.
 */
export function familyOf(model: string): { family: string; line: string } {
  const name = model.toLowerCase().trim().replace(/^ft:/, "");
  const last = name.slice(name.lastIndexOf("/") + 1);
  const bare = last
    .replace(REGION, "")
    .replace(BEDROCK_MAKER, "")
    .replace(/[@:[].*$/, "");
  const words = bare
    .split(/[^a-z0-9]+/)
    .map((word) => word.replaceAll(/\d+/g, ""))
    .filter((word) => word !== "" && !NO_FAMILY.test(word));
  return { family: words.join("-"), line: words[0] ?? "" };
}
