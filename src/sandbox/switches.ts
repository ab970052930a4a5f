import { ApiError } from "./errors.ts";

/** What a request's `x-sandbox` header asks for; see {@link parseSwitches}. */
export interface Switches {
  /** Milliseconds to wait before the answer's head. */
  delayMs: number;
  /** Milliseconds to wait between two events of a stream. */
  paceMs: number;
  /** Answer with this status and an error body; null to answer. */
  errorStatus: number | null;
  /** Destroy the connection after so many events of a stream, or bytes of a JSON body; null to finish. */
  cutAfter: number | null;
  /** End a stream with an error event after its first piece of content. */
  errorEvent: boolean;
  /** Encode the body, asked or not. */
  gzip: boolean;
  refuse: boolean;
  /** Stop for `pause_turn`; the Responses API knows no such thing and ignores it. */
  pause: boolean;
  noUsage: boolean;
}

export const NO_SWITCHES: Readonly<Switches> = {
  delayMs: 0,
  paceMs: 0,
  errorStatus: null,
  cutAfter: null,
  errorEvent: false,
  gzip: false,
  refuse: false,
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
  "delay=MS, pace=MS, error=STATUS, cut=N, error-event, gzip, refuse, pause, no-usage (comma between)";

/**
 * Reads a comma list such as `delay=200, cut=5, gzip`.
 * @throws ApiError 400 naming the known switches, for any other
 */
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
    throw new ApiError(400, `x-sandbox does not know "${item}"; it knows ${KNOWN}`);
  }
}

function isNumberFor(name: keyof typeof NUMBERS, value: string | undefined): boolean {
  const pattern = name === "error" ? /^[45]\d\d$/ : /^\d{1,9}$/;
  return value !== undefined && pattern.test(value);
}

function isKeyOf<T extends object>(table: T, name: string): name is Extract<keyof T, string> {
  return Object.hasOwn(table, name);
}
