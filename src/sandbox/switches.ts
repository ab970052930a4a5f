import { ApiError } from "./errors.ts";

/** Where the streams of Chat Completions and Completions report usage. Only the first two wait to be asked. */
export type UsagePlacement = (typeof USAGE_PLACEMENTS)[number];

const USAGE_PLACEMENTS = [
  "asked",
  "bare",
  "unasked",
  "null-choices",
  "extra-choice",
  "finish",
  "choice",
  "x-groq",
  "x-groq-too",
  "every",
  "every-null",
  "zeros",
  "then-null",
  "after-done",
  "timings",
] as const;

/** What the `x-sandbox` header of a request asks for; see {@link parseSwitches}. */
export type Switches = typeof NO_SWITCHES;

export const NO_SWITCHES = {
  /** Milliseconds to wait before the response headers. */
  delayMs: 0,
  /** Milliseconds to wait between two events of a stream. */
  paceMs: 0,
  /** Respond with this status and an error body, without executing the request; null to respond normally. */
  errorStatus: null as number | null,
  /** Seconds that `retry-after` tells the client to wait; null for the status's own default. */
  retryAfter: null as number | null,
  /** Close the connection after this many events of a stream, or bytes of a JSON body; null to finish. */
  cutAfter: null as number | null,
  /** Where a stream of Chat Completions or Completions reports usage. */
  usage: "asked" as UsagePlacement,
  /** Execute the request, then reset the connection: before the first byte, or where `cutAfter` closes it. */
  reset: false,
  /** Execute the request, then send nothing and keep the connection open. */
  hang: false,
  /** Respond with 200 and an error body. */
  errorIn200: false,
  /** End a stream with an error event after its first piece of content. */
  errorEvent: false,
  /** Encode the body, whatever the request accepts. */
  gzip: false,
  /** Send a comment before each event of a stream. */
  comments: false,
  /** End the lines of a stream with CR and LF. */
  crlf: false,
  /** Leave out the `[DONE]` that ends a stream of Chat Completions or Completions. */
  noDone: false,
  refuse: false,
  /** Stop with `pause_turn`. Only the Messages API has it. */
  pause: false,
  noUsage: false,
  /** Report reasoning beside `completion_tokens` instead of inside, as xAI does. */
  reasoningOutside: false,
};

const NUMBERS = {
  delay: "delayMs",
  pace: "paceMs",
  error: "errorStatus",
  "retry-after": "retryAfter",
  cut: "cutAfter",
} as const;
const FLAGS = {
  reset: "reset",
  hang: "hang",
  "error-in-200": "errorIn200",
  "error-event": "errorEvent",
  gzip: "gzip",
  comments: "comments",
  crlf: "crlf",
  "no-done": "noDone",
  refuse: "refuse",
  pause: "pause",
  "no-usage": "noUsage",
  "reasoning-outside": "reasoningOutside",
} as const;

const KNOWN =
  `delay=MS, pace=MS, error=STATUS, retry-after=SECONDS, cut=N, ${Object.keys(FLAGS).join(", ")}, ` +
  `usage=PLACE (separated by commas), where PLACE is ${USAGE_PLACEMENTS.join(", ")}`;

/** What the switches of a request apply to. */
interface SwitchScope {
  /** The sandbox's name. */
  name: string;
  /** The sandbox's own choice where the request makes none. */
  defaults: Readonly<Partial<Switches>>;
}

/**
 * Parses a list such as `delay=200, cut=5, gzip`. A switch after a name and a colon, such as `openai:error=429`, is for the
 * sandbox of that name only, so that a request can plan what each upstream on its way does.
 * @throws ApiError 400 for an unknown switch, naming the known ones
 */
export function parseSwitches(header: string | undefined, { name, defaults }: SwitchScope): Switches {
  const own: Switches = { ...NO_SWITCHES, ...defaults };
  const others: Switches = { ...NO_SWITCHES };
  for (const item of header?.split(",") ?? []) {
    const [, addressee, text = ""] = /^(?:([\w-]+):)?(.*)$/s.exec(item.trim()) ?? [];
    setSwitch(addressee === undefined || addressee === name ? own : others, text);
  }
  return own;
}

function setSwitch(switches: Switches, item: string): void {
  const [name = "", value] = item.split("=", 2);
  if (isKeyOf(FLAGS, name) && value === undefined) {
    switches[FLAGS[name]] = true;
  } else if (isKeyOf(NUMBERS, name) && isNumberFor(name, value)) {
    switches[NUMBERS[name]] = Number(value);
  } else if (name === "usage" && isUsagePlacement(value)) {
    switches.usage = value;
  } else {
    throw new ApiError(400, `unknown x-sandbox switch "${item}"; the switches are ${KNOWN}`);
  }
}

function isNumberFor(name: keyof typeof NUMBERS, value: string | undefined): boolean {
  const pattern = name === "error" ? /^[45]\d\d$/ : /^\d{1,9}$/;
  return value !== undefined && pattern.test(value);
}

function isUsagePlacement(value: string | undefined): value is UsagePlacement {
  return USAGE_PLACEMENTS.some((place) => place === value);
}

function isKeyOf<T extends object>(table: T, name: string): name is Extract<keyof T, string> {
  return Object.hasOwn(table, name);
}
