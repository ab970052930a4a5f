import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build, parse, type PlistValue } from "plist";
import { Failure } from "../../core/failure.ts";
import { parseServiceCommand, type ServiceCommand } from "../service-command.ts";
import type { ServiceTarget } from "../service-manager.ts";

/** The service's launchd label, its file's name without `.plist`, and the name of the script that starts the daemon. */
export const LABEL = "tollkeeper";

/** The part of an agent's definition that tollkeeper reads back. The times are null when it leaves them to launchd. */
interface Agent extends ServiceCommand {
  /** How long the daemon may take to exit, in milliseconds. */
  exitMs: number | null;
  /** The share of that time for open streams. */
  drainMs: number | null;
}

type Dictionary = Record<string, PlistValue>;

/** Time to close the remaining connections after the drain limit. */
const MARGIN_SECONDS = 10;

const STARTUP_LOG = "start.log";

/** Returns the file for what Node prints before the daemon opens its log, and at a crash. */
export function startupLogFile(logFile: string): string {
  return join(dirname(logFile), STARTUP_LOG);
}

/** Returns the text of the script that starts the daemon and bounds {@link startupLogFile}. */
export function readLauncher(): string {
  return readTemplate(`${LABEL}.sh`);
}

/**
 * Returns the service's definition as a property list: the template with the target's values (launchd.plist(5)).
 * @throws Failure for control characters, which XML 1.0 cannot represent
 */
export function renderAgent(target: ServiceTarget): string {
  const { launcher, node, script, configFile, drainMs, logFile, environment } = target;
  const template = dictionary(parse(readTemplate(`${LABEL}.plist`)));
  const startupLog = startupLogFile(logFile);
  const command = [node, script, "serve", "--log-file", logFile, "--config", configFile];
  const agent: Dictionary = {
    ...template,
    ProgramArguments: [launcher, startupLog, ...command],
    EnvironmentVariables: { ...dictionary(template["EnvironmentVariables"]), ...environment },
    StandardOutPath: startupLog,
    StandardErrorPath: startupLog,
    ExitTimeOut: Math.ceil(drainMs / 1000) + MARGIN_SECONDS,
  };
  try {
    return `${build(agent)}\n`;
  } catch (error) {
    const message = "a path or variable with a control character cannot be written for launchd";
    throw new Failure(message, "rename it, or run without a service: tollkeeper serve", { cause: error });
  }
}

/** Parses a definition; null when it is not an XML property list with a dictionary at its root. */
export function parseAgent(text: string): Agent | null {
  try {
    const { ProgramArguments: args, ExitTimeOut: seconds } = dictionary(parse(text));
    const words = Array.isArray(args) ? args.map(String) : [];
    const hasLimit = typeof seconds === "number";
    return {
      ...parseServiceCommand(withoutLauncher(words)),
      exitMs: hasLimit ? seconds * 1000 : null,
      drainMs: hasLimit ? (seconds - MARGIN_SECONDS) * 1000 : null,
    };
  } catch {
    return null;
  }
}

/** Definitions of earlier versions, and those written by someone else, start Node directly. */
function withoutLauncher(words: readonly string[]): readonly string[] {
  return words[1]?.endsWith(`/${STARTUP_LOG}`) === true ? words.slice(2) : words;
}

function dictionary(value: PlistValue | undefined): Dictionary {
  if (typeof value === "object" && value?.constructor === Object) return value as Dictionary;
  throw new Error("not a dictionary");
}

/** Reads a template that the package ships. */
function readTemplate(name: string): string {
  return readFileSync(new URL(import.meta.resolve(`#package/launchd/${name}`)), "utf8");
}
