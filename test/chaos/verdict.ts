import { UPSTREAM_BEHAVIOUR_NAMES } from "./upstream-behaviours.ts";
import type { Observations } from "./observations.ts";
import { DISTURBANCE_NAMES } from "./disturbances.ts";
import type { RunResults } from "./run-results.ts";
import { CLIENT_BEHAVIOUR_NAMES } from "./client-behaviours.ts";
import { median } from "../helpers/process/process-metrics.ts";
import { RecordChecks } from "./record-checks.ts";
import { CLIENT_CREDENTIAL } from "./requests.ts";
import { KEY_START } from "./searcher.ts";

/** The result of one rule. */
export interface Check {
  rule: string;
  /** What was checked, in numbers. */
  figure: string;
  /** Each begins with the name of what it concerns. Empty when the rule holds. */
  faults: string[];
}

const MIB = 1024 * 1024;
/** The most that a daemon under load may hold, including huge events and the uploads of all clients. */
const MEMORY_LIMIT_BYTES = 640 * MIB;
/** A difference above this between the halves of a daemon's life counts as growth. */
const GROWTH_LIMIT_BYTES = 48 * MIB;
/** With fewer samples the halves are not compared. */
const ENOUGH_SAMPLES = 200;

/** Minimum shares of the requests that may be forwarded. The others meet a restart, a limit or a missing key, or disconnect. */
const FORWARDED_SHARE = 0.5;
const ANSWERED_SHARE = 0.2;

/** Compares all observations. The run has passed when no check has faults. */
export function checkRun(observations: Observations, results: RunResults): Check[] {
  const ledgers = new RecordChecks(observations, results.records);
  return [
    coverage(observations, results),
    ledgers.completeResponses(),
    ledgers.receivedRequests(),
    ledgers.truthfulRecords(),
    ledgers.deliveredResponses(),
    sentOnce(observations),
    uploads(observations),
    refused(observations),
    noViolations(observations),
    secrecy(results),
    internalFaults(results),
    leftovers(results),
    memory(results),
  ];
}

/** Makes sure that everything happened, because a run without events would have no faults and prove nothing. */
function coverage(
  { sent, received, killedAt, stops, disturbances }: Observations,
  { records }: RunResults,
): Check {
  const harmless = [...sent.values()].filter(({ expectedRefusal }) => expectedRefusal === null);
  const complete = harmless.filter(
    ({ response }) => response?.isComplete === true && response.refusal === null,
  );
  const missing = [
    ...without(
      CLIENT_BEHAVIOUR_NAMES,
      [...sent.values()].map(({ behaviour }) => behaviour),
    ),
    ...without(
      UPSTREAM_BEHAVIOUR_NAMES,
      [...received.values()].map(({ behaviour }) => behaviour),
    ),
    ...without(DISTURBANCE_NAMES, disturbances),
  ];
  const overTls = records.filter(({ upstream, usage }) => upstream === "tls" && usage === "final");
  if (overTls.length === 0) missing.push("a response over TLS");
  const faults = missing.map((name) => `never happened: ${name}`);
  if (received.size < FORWARDED_SHARE * harmless.length)
    faults.push(`only ${received.size} of ${harmless.length} requests were forwarded`);
  if (complete.length < ANSWERED_SHARE * harmless.length)
    faults.push(`only ${complete.length} of ${harmless.length} requests got a complete response`);
  const figure = `${received.size} of ${harmless.length} forwarded, ${complete.length} complete responses, ${overTls.length} over TLS; ${killedAt.length} kills, ${stops.length} stops, ${disturbances.length} disturbances`;
  return { rule: "everything happened, and much of it worked", figure, faults };
}

function without(names: readonly string[], done: readonly string[]): string[] {
  return names.filter((name) => !done.includes(name));
}

function sentOnce({ received }: Observations): Check {
  const faults = [...received.values()].filter(({ times }) => times > 1);
  return {
    rule: "no request reaches the upstream twice",
    figure: `${received.size} seen`,
    faults: faults.map(({ nonce, times }) => `${nonce} came ${times} times`),
  };
}

/** A complete body at the upstream equals the client's. */
function uploads({ received, sent }: Observations): Check {
  const complete = [...received.values()].filter(({ bodyDigest }) => bodyDigest !== null);
  const faults = complete.flatMap(({ nonce, bodyDigest }) => {
    const request = sent.get(nonce);
    return request?.isSentCompletely === true && request.bodyDigest === bodyDigest
      ? []
      : [`${nonce} was changed`];
  });
  return { rule: "an upload arrives as it was sent", figure: `${complete.length} complete uploads`, faults };
}

function refused({ received, sent }: Observations): Check {
  const hostile = [...sent.values()].filter(({ expectedRefusal }) => expectedRefusal !== null);
  const faults = hostile
    .filter(({ nonce }) => received.has(nonce))
    .map(({ nonce }) => `${nonce} reached the upstream`);
  return {
    rule: "a hostile request reaches no upstream",
    figure: `${hostile.length} hostile requests`,
    faults,
  };
}

function noViolations({ violations, sent }: Observations): Check {
  const faults = [...violations].flatMap(([kind, cases]) => cases.map((what) => `${what} (${kind})`));
  const rule = "no violations: foreign responses, keys, credentials, hanging";
  return { rule, figure: `${sent.size} exchanges`, faults };
}

/** No key, no client credential, and no content of a prompt or response is in any text. */
function secrecy({ texts }: RunResults): Check {
  const words = [KEY_START, CLIENT_CREDENTIAL, "lorem ipsum", "xxxxxxxxxxxxxxxx"];
  const bytes = Object.values(texts).reduce((sum, text) => sum + text.length, 0);
  const faults = Object.entries(texts).flatMap(([where, text]) => {
    return words.filter((word) => text.includes(word)).map((word) => `${where} has ${word}`);
  });
  return { rule: "no key and no content in anything written", figure: `${bytes} bytes searched`, faults };
}

/** What the daemon logs when something is wrong with itself. */
const INTERNAL_FAULT = /"level":[56]0|internal error in a request/;
const CONFIGURATION_FAULT = /the new configuration cannot be applied/;

function internalFaults({ texts, ledger }: RunResults): Check {
  const lines = (texts["output"] ?? "").split("\n");
  const found = lines.filter((line) => INTERNAL_FAULT.test(line) && !CONFIGURATION_FAULT.test(line));
  const faults = found.map((line) => `the daemon logged ${line}`);
  const { waiting, lost } = ledger;
  if (waiting + lost > 0) faults.push(`the ledger has ${waiting} records waiting, ${lost} lost`);
  return { rule: "no internal faults", figure: `${lines.length} lines of log`, faults };
}

function leftovers({ idle }: RunResults): Check {
  const { openExchanges, bufferedBytes, openAtUpstream, pooledConnections, descriptors, descriptorLimit } =
    idle;
  const faults: string[] = [];
  if (bufferedBytes > 0) faults.push(`daemon holds ${bufferedBytes} bytes for no reader`);
  if (openExchanges > 0) faults.push(`daemon has ${openExchanges} open exchanges`);
  faults.push(...openAtUpstream.map((nonce) => `${nonce} is still open at the upstream`));
  if (descriptors > descriptorLimit)
    faults.push(`daemon has ${descriptors} descriptors, fresh ${descriptorLimit}`);
  const figure = `${descriptors} descriptors, fresh ${descriptorLimit}; ${pooledConnections} were pooled`;
  return { rule: "nothing is left open", figure, faults };
}

function memory({ memory: samples }: RunResults): Check {
  const settled = samples.slice(Math.floor(samples.length / 5));
  const half = Math.floor(settled.length / 2);
  const [first, second] = [median(settled.slice(0, half)), median(settled.slice(half))];
  const most = Math.max(...samples);
  const faults: string[] = [];
  if (most > MEMORY_LIMIT_BYTES) faults.push(`daemon held ${inMib(most)}`);
  const isComparable = samples.length >= ENOUGH_SAMPLES;
  if (isComparable && second - first > GROWTH_LIMIT_BYTES)
    faults.push(`daemon grew by ${inMib(second - first)}`);
  const halves = isComparable ? `${inMib(first)} then ${inMib(second)}` : "not compared (too short)";
  return { rule: "memory stays flat", figure: `at most ${inMib(most)}; halves: ${halves}`, faults };
}

function inMib(bytes: number): string {
  return `${Math.round(bytes / MIB)} MiB`;
}
