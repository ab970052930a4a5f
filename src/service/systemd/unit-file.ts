/** An assignment in a unit file. */
export interface Setting {
  /** e.g. `Service`. */
  section: string;
  name: string;
  value: string;
}

/** Every assignment of a unit file, in order; lines that a backslash joins count as one (systemd.syntax(7)). */
export function settingsOf(unit: string): Setting[] {
  const settings: Setting[] = [];
  let section = "";
  for (const line of unit.replaceAll(/\\\n/g, " ").split("\n")) {
    section = /^\s*\[(.+)\]\s*$/.exec(line)?.[1] ?? section;
    const [, name, value] = /^\s*(\w+)\s*=(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) settings.push({ section, name, value: value.trim() });
  }
  return settings;
}

/** The values that a unit file assigns to a setting, in order. */
export function valuesOf(unit: string, name: string): string[] {
  return settingsOf(unit)
    .filter((setting) => setting.name === name)
    .map(({ value }) => value);
}

/**
 * Gives a setting other values, each on a line of its own, in the place of its first one.
 * @throws Error when the unit file does not have it: a template and what fills it in belong together
 */
export function withValues(unit: string, name: string, values: readonly string[]): string {
  const lines = unit.split("\n");
  const isSetting = (line: string) => line.startsWith(`${name}=`);
  const first = lines.findIndex(isSetting);
  if (first === -1) throw new Error(`the unit has no ${name}=`);
  const rest = lines.slice(first).filter((line) => !isSetting(line));
  return [...lines.slice(0, first), ...values.map((value) => `${name}=${value}`), ...rest].join("\n");
}
