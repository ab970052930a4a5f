/** The part of the changelog that is about one version, without its heading. */
export interface Section {
  /** The day in the heading; null for one that says "unreleased". */
  date: string | null;
  text: string;
}

/** Returns the section of a version in CHANGELOG.md; null when there is none. */
export function findSection(changelog: string, version: string): Section | null {
  const [, ...sections] = changelog.split(/^## /m);
  const found = sections.find((section) => section.startsWith(`${version} `));
  const heading = /^\S+ \((unreleased|\d{4}-\d{2}-\d{2})\)\n/.exec(found ?? "");
  if (found === undefined || heading === null) return null;
  const [line, day = ""] = heading;
  return { date: day === "unreleased" ? null : day, text: `${found.slice(line.length).trim()}\n` };
}
