import { zonedCalendar, type Calendar } from "../calendar.ts";
import { compare, sideWithMore, type Cell, type Sides } from "./compare.ts";
import { commonName } from "./model-names.ts";

/** A likely reason why sums differ, and what to do about it. */
export interface Reason {
  code:
    | "time_zone"
    | "model_names"
    | "last_day"
    | "not_seen"
    | "other_keys"
    | "uncertain_records"
    | "unpriced"
    | "not_in_export";
  /** A sentence without its full stop. */
  what: string;
  fix: string | null;
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

/** Finds likely reasons for the cells that do not match, the one that explains most first. `localZone`: that of this machine. */
export function findReasons(
  sides: Sides,
  cells: readonly Cell[],
  calendar: Calendar,
  localZone: string,
): Reason[] {
  const wrong = cells.filter(({ isMatch }) => !isMatch);
  const names = findNames(sides);
  if (wrong.length === 0) return names;
  const zone = findZone(sides, share(cells), calendar, localZone);
  if (zone !== null) {
    const what = `the export counts its days in another time zone: with those of ${zone} it matches, or nearly so`;
    return [{ code: "time_zone", what, fix: `--timezone ${zone}` }, ...names];
  }
  return [...findDifferences(wrong, cells.at(-1)?.day ?? ""), ...names];
}

/** Returns the time zone by whose days most of the export matches, and more than by `calendar`; null if there is none. */
function findZone(sides: Sides, now: number, calendar: Calendar, localZone: string): string | null {
  let best: string | null = null;
  let most = Math.max(now, ENOUGH - Number.EPSILON);
  for (const name of [localZone, ...ZONES]) {
    const found = name === calendar.zone ? 0 : share(compare(sides, zonedCalendar(name)));
    if (found > most) [best, most] = [name, found];
  }
  return best;
}

/** Returns which share of the cells matches. */
function share(cells: readonly Cell[]): number {
  return cells.filter(({ isMatch }) => isMatch).length / cells.length;
}

function findDifferences(wrong: readonly Cell[], lastDay: string): Reason[] {
  const open = wrong.filter((cell) => cell.day === lastDay && sideWithMore(cell) === "ledger");
  const more = wrong.filter((cell) => sideWithMore(cell) !== "ledger");
  const unseen = more.filter(({ ledger }) => ledger.requests === 0);
  const uncertain = more.filter(({ ledger }) => ledger.partial + ledger.absent > 0);
  const rest = more.filter((cell) => !unseen.includes(cell) && !uncertain.includes(cell));
  const unpriced = wrong.filter(
    ({ ledger, costDifference }) => costDifference !== null && ledger.unpriced > 0,
  );
  const ours = wrong.filter((cell) => sideWithMore(cell) === "ledger" && !open.includes(cell));
  const reasons: (Reason | null)[] = [
    reason("not_seen", unseen, (where) => [
      `tollkeeper saw nothing of ${where}: another machine, another key, or a tool that is not connected`,
      "tollkeeper connect --list",
    ]),
    reason("uncertain_records", uncertain, (where) => [
      `requests of ours are lower bounds or unknown: ${where}`,
      "tollkeeper usage --utc",
    ]),
    reason("unpriced", unpriced, (where) => [
      `requests of ours have no known price: ${where}`,
      "tollkeeper prices",
    ]),
    reason("other_keys", rest, (where) => [
      `the service has more than the ledger of ${where}: other keys or other machines, too`,
      "--only api_key=NAME",
    ]),
    reason("last_day", open, (where) => [`the export was made before its last day was over: ${where}`, null]),
    reason("not_in_export", ours, (where) => [
      `the ledger has more than the export of ${where}: the export leaves out a key or a workspace, or another service served it`,
      "--upstream NAME",
    ]),
  ];
  return reasons.filter((one) => one !== null);
}

function reason(
  code: Reason["code"],
  cells: readonly Cell[],
  describe: (where: string) => [what: string, fix: string | null],
): Reason | null {
  if (cells.length === 0) return null;
  const places = cells.slice(0, 3).map(({ day, model }) => (model === null ? day : `${model} on ${day}`));
  const rest = cells.length - places.length;
  const [what, fix] = describe(places.join(", ") + (rest > 0 ? ` and ${rest} more` : ""));
  return { code, what, fix };
}

/** Names that differ are compared all the same. */
function findNames({ rows, usage }: Sides): Reason[] {
  const theirs = new Set(rows.flatMap(({ model }) => model ?? []));
  const pairs = [...theirs].flatMap((name) => {
    const ours = usage.names.get(commonName(name));
    return ours === undefined || ours.has(name) ? [] : [`${name} is ${[...ours].join(", ")} in the ledger`];
  });
  if (pairs.length === 0) return [];
  return [
    { code: "model_names", what: `models have other names in the export: ${pairs.join("; ")}`, fix: null },
  ];
}
