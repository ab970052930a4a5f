import { existsSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** Where Linux and macOS keep a file for each zone (tzfile(5)). */
const ZONES = "/usr/share/zoneinfo";

/** How a zone's file is named below the directory of all zones. */
const ZONE_FILE = /\/zoneinfo\/(?:(?:posix|right)\/)?([A-Z]\w*(?:\/[\w+-]+)*)$/;

/** Other names of UTC, which the runtime reports by that. */
const UTC_NAMES = /^(?:Etc\/)?(?:UTC|UCT|Universal|Zulu|GMT|Greenwich)$/;

/**
 * Returns the IANA name of this process's time zone. Reads it where the system keeps it, because the runtime takes 17 ms to load all
 * that it knows of languages and zones; it is asked where the system does not say.
 */
export function localZoneName(): string {
  const name = process.env["TZ"] === undefined ? ZONE_FILE.exec(linkOf("/etc/localtime"))?.[1] : undefined;
  if (name === undefined) return new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return UTC_NAMES.test(name) ? "UTC" : name;
}

/**
 * Has this process reckon in the zone that TZ means to other programs. The runtime knows only names such as `Europe/Berlin`: by a path or
 * a rule, the other forms of POSIX (XBD section 8.3), it silently takes a wrong time. Call it before the first local time is asked for.
 * Returns a warning if no zone can be found; days are then those of UTC, as for the system's own programs.
 */
export function adoptTimeZone(): string | null {
  const given = process.env["TZ"];
  if (given === undefined) return null;
  const name = findZone(given.replace(/^:/, ""));
  if (name !== given) process.env["TZ"] = name ?? "UTC";
  if (name !== null) return null;
  return `TZ=${JSON.stringify(given)} is no time zone that tollkeeper knows, so its days are those of UTC; name one, for example with: export TZ=Europe/Berlin`;
}

function findZone(given: string): string | null {
  // glibc and the BSDs take that for UTC.
  if (given === "") return "UTC";
  const path = given.startsWith("/") ? given : join(ZONES, given);
  if (existsSync(path)) return findZoneOfFile(path);
  return findFixedZone(given) ?? canonicalName(given);
}

/** A file that is not named after its zone, such as a container's copy of the host's, is compared with those of all zones. */
function findZoneOfFile(path: string): string | null {
  const named = [path, realpathSync(path)].flatMap((one) => ZONE_FILE.exec(one)?.[1] ?? []);
  // The usual case is not asked about, which takes as long as it takes to ask for the zone of this process.
  const known = named.find((name) => path === join(ZONES, name) || canonicalName(name) !== null);
  if (known !== undefined) return known;
  const bytes = tryRead(path);
  const isSame = (name: string) => bytes !== null && tryRead(join(ZONES, name))?.equals(bytes) === true;
  // Zones that have had the same times share their contents; Debian names the one that was chosen.
  const chosen = tryRead("/etc/timezone")?.toString().trim() ?? "UTC";
  return [chosen, "UTC", ...Intl.supportedValuesOf("timeZone")].find(isSame) ?? null;
}

/** A rule without summer time, such as `JST-9` or `<+03>-3`. Its sign is that of the zones `Etc/GMT-9`: west is positive. */
function findFixedZone(rule: string): string | null {
  const [, sign = "", hours = ""] = /^(?:[A-Za-z]{3,}|<[+\w-]{3,}>)([+-]?)(\d{1,2})$/.exec(rule) ?? [];
  if (hours === "") return null;
  return Number(hours) === 0 ? "UTC" : canonicalName(`Etc/GMT${sign || "+"}${Number(hours)}`);
}

/** Returns null for a name that the runtime does not know. */
function canonicalName(name: string): string | null {
  if (UTC_NAMES.test(name)) return "UTC";
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}

function tryRead(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
