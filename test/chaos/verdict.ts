import { BEHAVIOUR_NAMES } from "./behaviours.ts";
import type { Books } from "./books.ts";
import { DISTURBANCE_NAMES } from "./disturbances.ts";
import type { Figures } from "./figures.ts";
import { MANNER_NAMES } from "./manners.ts";
import { median } from "./process-figures.ts";
import { Ledgers } from "./record-checks.ts";
import { CLIENT_CREDENTIAL } from "./requests.ts";
import { KEY_START } from "./searcher.ts";

/** One line of the verdict. */
export interface Check {
  rule: string;
  /** What was looked at, in numbers. */
  figure: string;
  /** Each begins with the name of what it concerns. Empty: the rule holds. */
  faults: string[];
}

const MIB = 1024 * 1024;
/** A daemon that works holds this at most, huge events and megabytes of uploads of all clients included. */
const MEMORY_LIMIT_BYTES = 640 * MIB;
/** More than this from one half of a daemon's life to the other is growth, less is chance. */
const GROWTH_LIMIT_BYTES = 48 * MIB;
/** With fewer samples there are no two halves to be compared. */
const ENOUGH_SAMPLES = 200;

/** Of the requests that may be forwarded. The rest meets a restart, a limit or a missing key, or leaves before. */
const FORWARDED_SHARE = 0.5;
const ANSWERED_SHARE = 0.2;

/** Compares all books. The run went well when no check has faults. */
export function judge(books: Books, figures: Figures): Check[] {
  const ledgers = new Ledgers(books, figures.records);
  return [
    didSomething(books, figures),
    ledgers.completeAnswers(),
    ledgers.seenRequests(),
    ledgers.honestRecords(),
    ledgers.answersDelivered(),
    sentOnce(books),
    uploads(books),
    refused(books),
    neverHappens(books),
    secrecy(figures),
    ownFaults(figures),
    nothingLeft(figures),
    memory(figures),
  ];
}

/** A run in which nothing happened has no fault; and proves nothing. */
function didSomething({ sent, seen, killedAt, stops, disturbances }: Books, { records }: Figures): Check {
  const harmless = [...sent.values()].filter(({ mustRefuse }) => mustRefuse === null);
  const whole = harmless.filter(({ answer }) => answer?.isComplete === true && answer.refusal === null);
  const missing = [
    ...without(
      MANNER_NAMES,
      [...sent.values()].map(({ manner }) => manner),
    ),
    ...without(
      BEHAVIOUR_NAMES,
      [...seen.values()].map(({ behaviour }) => behaviour),
    ),
    ...without(DISTURBANCE_NAMES, disturbances),
  ];
  const overTls = records.filter(({ upstream, usage }) => upstream === "tls" && usage === "final");
  if (overTls.length === 0) missing.push("an answer over TLS");
  const faults = missing.map((name) => `nobody did this: ${name}`);
  if (seen.size < FORWARDED_SHARE * harmless.length)
    faults.push(`only ${seen.size} of ${harmless.length} requests were forwarded`);
  if (whole.length < ANSWERED_SHARE * harmless.length)
    faults.push(`only ${whole.length} of ${harmless.length} requests were answered in full`);
  const figure = `${seen.size} of ${harmless.length} forwarded, ${whole.length} answered in full, ${overTls.length} over TLS; ${killedAt.length} kills, ${stops.length} stops, ${disturbances.length} disturbances`;
  return { rule: "everything was tried, and much of it worked", figure, faults };
}

function without(names: readonly string[], done: readonly string[]): string[] {
  return names.filter((name) => !done.includes(name));
}

function sentOnce({ seen }: Books): Check {
  const faults = [...seen.values()].filter(({ times }) => times > 1);
  return {
    rule: "no request reaches the upstream twice",
    figure: `${seen.size} seen`,
    faults: faults.map(({ nonce, times }) => `${nonce} came ${times} times`),
  };
}

/** A body that ends well at the upstream is the one that the client sent, and all of it. */
function uploads({ seen, sent }: Books): Check {
  const whole = [...seen.values()].filter(({ bodyDigest }) => bodyDigest !== null);
  const faults = whole.flatMap(({ nonce, bodyDigest }) => {
    const request = sent.get(nonce);
    return request?.isSentWhole === true && request.bodyDigest === bodyDigest ? [] : [`${nonce} was changed`];
  });
  return { rule: "an upload arrives as it was sent", figure: `${whole.length} whole uploads`, faults };
}

function refused({ seen, sent }: Books): Check {
  const hostile = [...sent.values()].filter(({ mustRefuse }) => mustRefuse !== null);
  const faults = hostile
    .filter(({ nonce }) => seen.has(nonce))
    .map(({ nonce }) => `${nonce} reached the upstream`);
  return { rule: "a hostile request goes nowhere", figure: `${hostile.length} hostile requests`, faults };
}

function neverHappens({ offences, sent }: Books): Check {
  const faults = [...offences].flatMap(([kind, cases]) => cases.map((what) => `${what} (${kind})`));
  const rule = "nothing happened that never may: other answers, keys, credentials, hanging";
  return { rule, figure: `${sent.size} exchanges`, faults };
}

/** No key, no credential of a client's, no word of a prompt or an answer. */
function secrecy({ writings }: Figures): Check {
  const words = [KEY_START, CLIENT_CREDENTIAL, "lorem ipsum", "xxxxxxxxxxxxxxxx"];
  const bytes = Object.values(writings).reduce((sum, text) => sum + text.length, 0);
  const faults = Object.entries(writings).flatMap(([where, text]) => {
    return words.filter((word) => text.includes(word)).map((word) => `${where} has ${word}`);
  });
  return { rule: "no key and no content in anything written", figure: `${bytes} bytes searched`, faults };
}

/** What the daemon says when something is wrong with itself, rather than with what it was given. */
const OWN_FAULT = /"level":[56]0|for a reason of our own/;
const GIVEN_FAULT = /the new configuration is not accepted/;

function ownFaults({ writings, ledger }: Figures): Check {
  const lines = (writings["what it said"] ?? "").split("\n");
  const said = lines.filter((line) => OWN_FAULT.test(line) && !GIVEN_FAULT.test(line));
  const faults = said.map((line) => `the daemon said ${line}`);
  const { waiting, lost } = ledger;
  if (waiting + lost > 0) faults.push(`the ledger has ${waiting} records waiting, ${lost} lost`);
  return { rule: "no fault of its own", figure: `${lines.length} lines of log`, faults };
}

function nothingLeft({ rest }: Figures): Check {
  const { openExchanges, openAtUpstream, pooledConnections, descriptors, descriptorLimit } = rest;
  const faults: string[] = [];
  if (openExchanges > 0) faults.push(`daemon has ${openExchanges} open exchanges`);
  faults.push(...openAtUpstream.map((nonce) => `${nonce} is still open at the upstream`));
  if (descriptors > descriptorLimit)
    faults.push(`daemon has ${descriptors} descriptors, fresh ${descriptorLimit}`);
  const figure = `${descriptors} descriptors, fresh ${descriptorLimit}; ${pooledConnections} were pooled`;
  return { rule: "nothing is left open", figure, faults };
}

function memory({ memory: samples }: Figures): Check {
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
