/** An assignment in a unit file. */
export interface UnitSetting {
  /** e.g. `Service`. */
  section: string;
  name: string;
  value: string;
}

/** Returns the assignments of a unit file in order. Lines joined by a backslash count as one (systemd.syntax(7)). */
export function parseSettings(unit: string): UnitSetting[] {
  const settings: UnitSetting[] = [];
  let section = "";
  for (const line of unit.replaceAll(/\\\n/g, " ").split("\n")) {
    section = /^\s*\[(.+)\]\s*$/.exec(line)?.[1] ?? section;
    const [, name, value] = /^\s*(\w+)\s*=(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) settings.push({ section, name, value: value.trim() });
  }
  return settings;
}

/** Returns the values that a unit file assigns to a setting, in order. */
export function readValues(unit: string, name: string): string[] {
  return parseSettings(unit)
    .filter((setting) => setting.name === name)
    .map(({ value }) => value);
}

/**
 * Replaces all assignments of a setting with one line per value, at the position of the first.
 * @throws Error when the unit file has none: a template has a line for everything that is filled in
 */
export function replaceValues(unit: string, name: string, values: readonly string[]): string {
  const lines = unit.split("\n");
  const isSetting = (line: string) => line.startsWith(`${name}=`);
  const first = lines.findIndex(isSetting);
  if (first === -1) throw new Error(`the unit has no ${name}=`);
  const rest = lines.slice(first).filter((line) => !isSetting(line));
  return [...lines.slice(0, first), ...values.map((value) => `${name}=${value}`), ...rest].join("\n");
}
