import { ApiError } from "./errors.ts";

/** What the `x-sandbox` header of a request asks for; see {@link parseSwitches}. */
export type Switches = typeof NO_SWITCHES;

export const NO_SWITCHES = {
  /** Milliseconds to wait before the response headers. */
  delayMs: 0,
  /** Milliseconds to wait between two events of a stream. */
  paceMs: 0,
  /** Respond with this status and an error body; null to respond normally. */
  errorStatus: null as number | null,
  /** Close the connection after this many events of a stream, or bytes of a JSON body; null to finish. */
  cutAfter: null as number | null,
  /** End a stream with an error event after its first piece of content. */
  errorEvent: false,
  /** Encode the body, whatever the request accepts. */
  gzip: false,
  refuse: false,
  /** Stop with `pause_turn`. Ignored by the Responses API, which has no equivalent. */
  pause: false,
  noUsage: false,
};

const NUMBERS = { delay: "delayMs", pace: "paceMs", error: "errorStatus", cut: "cutAfter" } as const;
const FLAGS = {
  "error-event": "errorEvent",
  gzip: "gzip",
  refuse: "refuse",
  pause: "pause",
  "no-usage": "noUsage",
} as const;

const KNOWN =
  "delay=MS, pace=MS, error=STATUS, cut=N, error-event, gzip, refuse, pause, no-usage (separated by commas)";

/** Parses a list such as `delay=200, cut=5, gzip`. @throws ApiError 400 for an unknown switch, naming the known ones */
export function parseSwitches(header: string | undefined): Switches {
  const switches: Switches = { ...NO_SWITCHES };
  for (const item of header?.split(",") ?? []) setSwitch(switches, item.trim());
  return switches;
}

function setSwitch(switches: Switches, item: string): void {
  const [name = "", value] = item.split("=", 2);
  if (isKeyOf(FLAGS, name) && value === undefined) {
    switches[FLAGS[name]] = true;
  } else if (isKeyOf(NUMBERS, name) && isNumberFor(name, value)) {
    switches[NUMBERS[name]] = Number(value);
  } else {
    throw new ApiError(400, `unknown x-sandbox switch "${item}"; the switches are ${KNOWN}`);
  }
}

function isNumberFor(name: keyof typeof NUMBERS, value: string | undefined): boolean {
  const pattern = name === "error" ? /^[45]\d\d$/ : /^\d{1,9}$/;
  return value !== undefined && pattern.test(value);
}

function isKeyOf<T extends object>(table: T, name: string): name is Extract<keyof T, string> {
  return Object.hasOwn(table, name);
}
