import { addDays, UTC_CALENDAR, zonedCalendar, type Calendar } from "../calendar.ts";
import { compare, sideWithMore, type Cell, type Sides } from "./compare.ts";
import { commonName } from "./model-names.ts";
import type { ServiceExport } from "./service-row.ts";

/** A likely reason why sums differ, and what to do about it. */
export interface Reason {
  code:
    | "time_zone"
    | "model_names"
    | "last_day"
    | "not_seen"
    | "other_keys"
    | "other_upstream"
    | "deleted_days"
    | "uncertain_records"
    | "unpriced"
    | "not_in_export";
  /** A sentence without its full stop. */
  what: string;
  /** The command to type; null if there is nothing to try. */
  fix: string | null;
}

/** What was compared, and how. */
export interface Question {
  sides: Sides & { exported: ServiceExport };
  calendar: Calendar;
  /** The time zone of this machine. */
  localZone: string;
  /** The UTC days whose records are deleted. */
  deletedDays: ReadonlySet<string>;
  /** Returns the command that compares once more, with another value of an option. */
  again(option: "timezone" | "only" | "upstream", value: string): string;
  /** Returns a command line that can be pasted. */
  command(...words: string[]): string;
}

/** Where services have their offices, and every whole hour. IANA's names have the sign the other way round. */
const ZONES = [
  "America/Los_Angeles",
  "America/New_York",
  "Europe/London",
  "Europe/Berlin",
  ...Array.from({ length: 27 }, (_, index) => `Etc/GMT${index - 14 < 0 ? index - 14 : `+${index - 14}`}`),
];

/** A time zone explains the differences if this share of the days and models matches then. */
const ENOUGH = 0.8;

/** Finds likely reasons for the cells that do not match, the one that explains most first. */
export function findReasons(question: Question, cells: readonly Cell[]): Reason[] {
  const wrong = cells.filter(({ isMatch }) => !isMatch);
  const names = findNames(question.sides);
  if (wrong.length === 0) return names;
  const zone = findZone(question, share(cells));
  if (zone !== null && !isOfOne(question, zone.share)) {
    const what = `the export counts its days in another time zone: with those of ${zone.name} it matches, or nearly so`;
    return [{ code: "time_zone", what, fix: question.again("timezone", zone.name) }, ...names];
  }
  return [...findDifferences(question, wrong, cells), ...names];
}

/** Returns the time zone by whose days most of the export matches, and more than by the present calendar; null if there is none. */
function findZone(
  { sides, calendar, localZone }: Question,
  now: number,
): { name: string; share: number } | null {
  let best: string | null = null;
  let most = Math.max(now, ENOUGH - Number.EPSILON);
  for (const name of [localZone, ...ZONES]) {
    const found = name === calendar.zone ? 0 : share(compare(sides, zonedCalendar(name)));
    if (found > most) [best, most] = [name, found];
  }
  return best === null ? null : { name: best, share: most };
}

/** True when at least this share matches with one key, or with one upstream: that takes less for granted than other days. */
function isOfOne(question: Question, least: number): boolean {
  const below = least - Number.EPSILON;
  return findKey(question, below) !== null || findUpstream(question, below) !== null;
}

/** Returns which share of the cells matches. */
function share(cells: readonly Cell[]): number {
  return cells.length === 0 ? 1 : cells.filter(({ isMatch }) => isMatch).length / cells.length;
}

function isMore(cell: Cell): boolean {
  return sideWithMore(cell) !== "ledger";
}

/** Each cell has one reason: the first that fits. */
function findDifferences(question: Question, wrong: readonly Cell[], cells: readonly Cell[]): Reason[] {
  const lastDay = cells.at(-1)?.day ?? "";
  const { unknownBiller } = question.sides.usage;
  let left = wrong;
  const take = (fits: (cell: Cell) => boolean): readonly Cell[] => {
    const taken = left.filter(fits);
    left = left.filter((cell) => !taken.includes(cell));
    return taken;
  };
  const isLeftOut = ({ model }: Cell) =>
    model === null ? unknownBiller.size > 0 : unknownBiller.has(commonName(model));
  const deleted = take((cell) => isDeleted(question, cell));
  const unpriced = take(({ ledger, costDifference }) => costDifference !== null && ledger.unpriced > 0);
  const uncertain = take((cell) => isMore(cell) && cell.ledger.partial + cell.ledger.absent > 0);
  const elsewhere = take((cell) => isMore(cell) && isLeftOut(cell));
  const unseen = take((cell) => isMore(cell) && cell.ledger.requests === 0);
  const rest = take(isMore);
  const open = take(({ day }) => day === lastDay);
  const days = (of: readonly Cell[]) => usageOf(question, of);
  const reasons: (Reason | null)[] = [
    reason("deleted_days", deleted, (where) => [
      `the records are deleted, and only the sums of whole days are left: ${where}`,
      days(deleted),
    ]),
    reason("not_seen", unseen, (where) => [
      `tollkeeper saw nothing of ${where}: another machine, another key, or a tool that is not connected`,
      question.command("connect", "--list"),
    ]),
    reason("other_upstream", elsewhere, (where) => elsewhereReason(question, elsewhere, where)),
    reason("uncertain_records", uncertain, (where) => [
      `requests of the ledger are lower bounds or unknown: ${where}`,
      days(uncertain),
    ]),
    reason("unpriced", unpriced, (where) => unpricedReason(question, where)),
    reason("other_keys", rest, (where) => keysReason(question, cells, where)),
    reason("last_day", open, (where) => [
      `the ledger has more on the last day, so the export may be older than the end of it: ${where}`,
      null,
    ]),
    reason("not_in_export", left, (where) => notInExportReason(question, cells, where)),
  ];
  return reasons.filter((one) => one !== null);
}

/** True for a day that has, or may have, a part of a UTC day whose records are deleted. */
function isDeleted({ calendar, deletedDays }: Question, { day }: Cell): boolean {
  const near = calendar.zone === UTC_CALENDAR.zone ? [day] : [addDays(day, -1), day, addDays(day, 1)];
  return near.some((one) => deletedDays.has(one));
}

/** The command that shows what the ledger has of the days of these cells. */
function usageOf({ calendar, command }: Question, cells: readonly Cell[]): string {
  const days = cells.map(({ day }) => day).toSorted();
  const zone = calendar.zone === UTC_CALENDAR.zone ? ["--utc"] : ["--timezone", calendar.zone];
  return command("usage", "--since", days[0] ?? "", "--until", days.at(-1) ?? "", ...zone);
}

type Explained = [what: string, fix: string | null];

function elsewhereReason({ sides, again }: Question, cells: readonly Cell[], where: string): Explained {
  const { unknownBiller } = sides.usage;
  const found = cells.flatMap(({ model }) => [
    ...(model === null
      ? [...unknownBiller.values()].flatMap((names) => [...names])
      : (unknownBiller.get(commonName(model)) ?? [])),
  ]);
  const names = [...new Set(found)].toSorted();
  const what = `requests that may be in the export went to ${names.join(", ")}, and it is not known who bills them: ${where}`;
  return [what, names[0] === undefined ? null : again("upstream", names[0])];
}

function unpricedReason({ sides, command }: Question, where: string): Explained {
  const models = sides.usage.unpricedModels(sides.upstreams);
  const of = models.length === 0 ? "" : ` (${models.join(", ")})`;
  return [
    `requests of the ledger have no known price${of}: ${where}`,
    command("prices", ...models.slice(0, 1)),
  ];
}

function keysReason(question: Question, cells: readonly Cell[], where: string): Explained {
  const { again, command } = question;
  const { keyColumn } = question.sides.exported;
  const key = findKey(question, share(cells));
  const what = `the service has more than the ledger of ${where}`;
  if (key !== null && keyColumn !== null)
    return [`${what}: it matches, or nearly so, without other keys`, again("only", `${keyColumn}=${key}`)];
  return [`${what}: other machines, or tools that are not connected`, command("connect", "--list")];
}

/** Returns the key of whose rows more match than of all; null if there is none. */
function findKey({ sides, calendar }: Question, now: number): string | null {
  let [best, most]: [string | null, number] = [null, now];
  const { keys } = sides.exported;
  for (const key of keys.size > 1 ? keys.keys() : []) {
    const rows = sides.exported.rows.filter((row) => row.key === key);
    const found = share(compare({ ...sides, exported: { ...sides.exported, rows } }, calendar));
    if (found > most) [best, most] = [key, found];
  }
  return best;
}

function notInExportReason(question: Question, cells: readonly Cell[], where: string): Explained {
  const { sides, again } = question;
  const what = `the ledger has more than the export of ${where}`;
  const upstream = findUpstream(question, share(cells));
  if (upstream !== null)
    return [`${what}: it matches, or nearly so, with ${upstream} alone`, again("upstream", upstream)];
  const isOfCosts = sides.exported.nothing.tokens === null;
  const why = isOfCosts ? "a discount, a credit, or a key" : "a key or a workspace";
  return [`${what}: the export may leave out ${why}`, null];
}

/** Returns the upstream with which alone more matches than with all; null if there is none. */
function findUpstream({ sides, calendar }: Question, now: number): string | null {
  let [best, most]: [string | null, number] = [null, now];
  for (const name of sides.upstreams.size > 1 ? sides.upstreams : []) {
    const found = share(compare({ ...sides, upstreams: new Set([name]) }, calendar));
    if (found > most) [best, most] = [name, found];
  }
  return best;
}

function reason(
  code: Reason["code"],
  cells: readonly Cell[],
  explain: (where: string) => Explained,
): Reason | null {
  if (cells.length === 0) return null;
  const places = cells.slice(0, 3).map(({ day, model }) => (model === null ? day : `${model} on ${day}`));
  const rest = cells.length - places.length;
  const [what, fix] = explain(places.join(", ") + (rest > 0 ? ` and ${rest} more` : ""));
  return { code, what, fix };
}

/** Names that differ are compared all the same. */
function findNames({ exported, usage }: Sides): Reason[] {
  const theirs = new Set(exported.rows.flatMap(({ model }) => model ?? []));
  const pairs = [...theirs].flatMap((name) => {
    const ours = usage.names.get(commonName(name));
    return ours === undefined || ours.has(name) ? [] : [`${name} is ${[...ours].join(", ")} in the ledger`];
  });
  if (pairs.length === 0) return [];
  return [
    { code: "model_names", what: `models have other names in the export: ${pairs.join("; ")}`, fix: null },
  ];
}
