import { basename } from "node:path";
import { parseToolName } from "../../core/config/names.ts";
import { sanitizeText } from "../../core/config/problem.ts";
import { Failure } from "../../core/failure.ts";
import { findNearest } from "../../core/text/did-you-mean.ts";
import { CONNECTABLE_TOOLS, REQUEST_SIGNATURES } from "../../tools/all.ts";
import { sdk } from "../../tools/sdk.ts";
import type { ConnectableTool } from "../../tools/tool.ts";
import { oneAtATime } from "../command-line/whole-command.ts";
import { WrongUsage } from "../wrong-usage.ts";

/** The tool that a command line names. */
export interface SelectedTool {
  /** The known tool; for an unknown one `sdk`, which works for every program built on the vendors' SDKs. */
  tool: ConnectableTool;
  /** Its name in the ledger. */
  name: string;
}

/** Returns the known tool with this name, title or program. */
export function findTool(word: string): ConnectableTool | undefined {
  const name = word
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, "-");
  return CONNECTABLE_TOOLS.find((tool) => namesOf(tool).includes(name));
}

/** Returns the known tool with this name, title or program, to connect it. @throws Failure, naming the nearest match, if there is none */
export function requireTool(word: string): ConnectableTool {
  return requireToolTo("connect", word);
}

/** Returns the known tool like {@link requireTool}, to disconnect it. */
export function requireToolToDisconnect(word: string): ConnectableTool {
  return requireToolTo("disconnect", word);
}

function requireToolTo(verb: "connect" | "disconnect", word: string): ConnectableTool {
  const tool = findTool(word);
  if (tool !== undefined) return tool;
  if (word === "all")
    throw new WrongUsage('no tool is called "all"', `for all tools, type: tollkeeper ${verb} --all`);
  const each = oneAtATime(verb, [word]);
  if (each !== null) throw new WrongUsage(`"${verb}" takes one tool`, each);
  if (verb === "connect" && REQUEST_SIGNATURES.libraries.some((library) => library.tool === word))
    throw hasNoSettings(word);
  const nearest = findNearest(word, CONNECTABLE_TOOLS.flatMap(namesOf));
  const suggestion = nearest === null ? "" : `; did you mean "${nearest}"?`;
  throw new Failure(
    `tollkeeper does not know the tool "${sanitizeText(word)}"${suggestion}`,
    verb === "disconnect"
      ? "to see which tools are connected, type: tollkeeper connect --list"
      : `to list the supported tools, type: tollkeeper connect --list; to set up any other tool by hand, type: tollkeeper connect ${nearest === null ? (parseToolName(word) ?? "NAME") : "NAME"} --print`,
  );
}

/** The daemon names a program by the library that it is written with, if it knows no more of it. */
function hasNoSettings(name: string): Failure {
  return new Failure(
    `${name} is a library and has no settings that tollkeeper can change`,
    `to run one program that uses it, type: tollkeeper run -- COMMAND; to set the SDKs' environment variables for all programs, type: tollkeeper connect sdk; to see what it needs, type: tollkeeper connect ${name} --print`,
  );
}

function namesOf({ name, title, programs }: ConnectableTool): string[] {
  return [name, ...programs, title.toLowerCase().replaceAll(" ", "-")];
}

/** Selects a tool by name, known or not. @throws Failure when a tool cannot have this name */
export function selectToolByName(name: string): SelectedTool {
  const tool = findTool(name);
  return tool === undefined ? selectUnknownTool(name) : { tool, name: tool.name };
}

/**
 * Selects a tool by the program that a command runs.
 * @param name the name that the user gave; selects the tool as well when the program is unknown
 * @throws Failure when a tool cannot have this name
 */
export function selectToolByCommand(file: string, name: string | undefined): SelectedTool {
  const tool = CONNECTABLE_TOOLS.find((known) => isProgramOf(known, file));
  if (name !== undefined) {
    const named = selectToolByName(name);
    return { tool: tool ?? named.tool, name: named.name };
  }
  if (tool !== undefined) return { tool, name: tool.name };
  return selectUnknownTool(basename(file), "; give one with: --tool NAME");
}

/** True for the tool's own program. No other program understands its flags. */
export function isProgramOf({ programs }: ConnectableTool, file: string): boolean {
  return programs.includes(basename(file));
}

function selectUnknownTool(text: string, advice = ""): SelectedTool {
  const name = parseToolName(text);
  if (name !== null) return { tool: sdk, name };
  throw new Failure(
    `"${sanitizeText(text)}" cannot be a tool's name`,
    `a name has 1 to 64 characters of a-z, 0-9, ".", "_" and "-", and starts with a letter or digit${advice}`,
  );
}
