import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build, parse } from "plist";
import type { PlistValue } from "plist";
import { Failure } from "../../core/failure.ts";
import { readCommandWords, type NamedCommand } from "../command-words.ts";
import type { ServiceTarget } from "../service-manager.ts";

/** What launchd calls the service, and, with `.plist`, the name of its file. */
export const LABEL = "tollkeeper";

/** What a definition of the service says. */
export interface Agent extends NamedCommand {
  /** How long launchd gives the daemon to end, in milliseconds; null when the definition leaves it to launchd. */
  exitMs: number | null;
  /** How much of that is for open streams. */
  drainMs: number | null;
}

type Dictionary = Record<string, PlistValue>;

/** The daemon closes what is still open at the drain limit; it gets this long for that. */
const MARGIN_SECONDS = 10;

/** Where Node writes what it says before the daemon has opened its log. */
export function startLogFile(logFile: string): string {
  return join(dirname(logFile), "start.log");
}

/**
 * The definition of the service as a property list: the template with this target's values (launchd.plist(5)).
 * @throws Failure for control characters, which XML 1.0 has no way to write
 */
export function renderAgent(target: ServiceTarget): string {
  const { node, script, configFile, drainMs, logFile, environment } = target;
  const template = dictionary(parse(readTemplate()));
  const agent: Dictionary = {
    ...template,
    ProgramArguments: [node, script, "serve", "--log-file", logFile, "--config", configFile],
    EnvironmentVariables: { ...dictionary(template["EnvironmentVariables"]), ...environment },
    StandardOutPath: startLogFile(logFile),
    StandardErrorPath: startLogFile(logFile),
    ExitTimeOut: Math.ceil(drainMs / 1000) + MARGIN_SECONDS,
  };
  try {
    return `${build(agent)}\n`;
  } catch (error) {
    const message = "a path or variable with a control character cannot be written for launchd";
    throw new Failure(message, "rename it, or run by other means: tollkeeper serve", { cause: error });
  }
}

/** Reads a definition back; null when it is no property list, or one of another make. */
export function readAgent(text: string): Agent | null {
  try {
    const { ProgramArguments: args, ExitTimeOut: seconds } = dictionary(parse(text));
    const words = Array.isArray(args) ? args.map(String) : [];
    const hasLimit = typeof seconds === "number";
    return {
      ...readCommandWords(words),
      exitMs: hasLimit ? seconds * 1000 : null,
      drainMs: hasLimit ? (seconds - MARGIN_SECONDS) * 1000 : null,
    };
  } catch {
    return null;
  }
}

function dictionary(value: PlistValue | undefined): Dictionary {
  const isDictionary = typeof value === "object" && value?.constructor === Object;
  if (!isDictionary) throw new Error("not a dictionary");
  return value as Dictionary;
}

/** The file as it is shipped. */
function readTemplate(): string {
  return readFileSync(new URL(import.meta.resolve(`#package/launchd/${LABEL}.plist`)), "utf8");
}
