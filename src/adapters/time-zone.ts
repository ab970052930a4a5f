import { readlinkSync } from "node:fs";

/** How a zone's file is named below the directory of all zones, on Linux and macOS. */
const ZONE_FILE = /\/zoneinfo\/(?:posix\/)?([A-Za-z_]+(?:\/[\w+-]+)*)$/;

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

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
