import { parseConfigPath, type ConfigPath } from "../../core/config/config-path.ts";
import { NAME } from "../../core/config/names.ts";
import { sanitizeText } from "../../core/config/problem.ts";
import { listSettings } from "../../core/config/settings.ts";
import { findNearest } from "../../core/text/did-you-mean.ts";
import { WrongUsage } from "../wrong-usage.ts";

/** Parses the name of a setting as a person types it. @throws WrongUsage */
export function parsePath(name: string): ConfigPath {
  const path = parseConfigPath(name);
  if (path === null) throw unknownPath(name);
  return path;
}

/** With a name for each kind of entry that a person is likely to have. */
const USUAL_NAMES = { upstreams: { default: {} } };

/** What people call an address to listen on. */
const ADDRESS = /^listen\.(?:host|hosts|address|addr|bind|ip|interface)$/i;

/** What has a command of its own, by names that people expect in the file. */
const RULES: readonly (readonly [name: RegExp, command: string])[] = [
  [/^budgets?\b/, "tollkeeper budget set TOOL --usd 20 --per day"],
  [/^brakes?\b/, "tollkeeper brake set TOOL gentle"],
  [/^alias\b/, "tollkeeper alias set MODEL OTHER"],
  [/^group\b/, "tollkeeper group use TOOL GROUP"],
  [/^pauses?\b/, "tollkeeper pause TOOL"],
];

/** Returns the error for a name that no setting has, with the one that was probably meant. */
export function unknownPath(name: string): WrongUsage {
  const [section, given] = parseConfigPath(name) ?? [];
  const chosen =
    typeof section === "string" && typeof given === "string" ? { [section]: { [given]: {} } } : {};
  const known = listSettings({ ...USUAL_NAMES, ...chosen });
  const named = known.filter((path) => path.toLowerCase().endsWith(`.${name.toLowerCase()}`));
  const nearest = findNearest(name, known) ?? (named.length === 1 ? named[0] : null) ?? null;
  const guess = nearest === null ? "" : `; did you mean "${nearest}"?`;
  const what = `the configuration has no ${sanitizeText(name)}`;
  if (ADDRESS.test(name))
    return new WrongUsage(
      `${what}: tollkeeper listens on 127.0.0.1 and ::1, and on no other address`,
      "to let tools in a container or on another machine use it, type: tollkeeper bridge --help",
    );
  const command = RULES.find(([pattern]) => pattern.test(name))?.[1];
  if (command !== undefined)
    return new WrongUsage(
      what,
      `to set that, type: ${command.replace("TOOL", typeof given === "string" && NAME.test(given) ? given : "codex")}`,
    );
  return new WrongUsage(
    `${what}${guess}`,
    nearest === null
      ? "a path looks like upstreams.default.baseUrl; to see all keys, type: tollkeeper config schema"
      : `to see what it takes, type: tollkeeper config explain ${nearest}; to see all keys, type: tollkeeper config schema`,
  );
}
