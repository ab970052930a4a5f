import { parseToolName } from "../config/names.ts";
import type { Script } from "./signatures.ts";

const EXTENSION = /\.(?:[cm]?[jt]sx?|pyw?|pyz|rb|pl|php|phar|jar|dll|lua)$/;

/** The version that names of Java archives end with. */
const VERSION = /-\d[\w.]*$/;

/** Names that many programs give to the file that they start with. */
const GENERIC = new Set(
  [
    "index main cli app application server client start run bin entry entrypoint cli-entry launcher bootstrap loader",
    "wrapper __main__ __init__ mod module script worker child console program manage src lib dist test example demo",
  ].flatMap((names) => names.split(" ")),
);

/** Programs that run the script which is their first argument, in their own process. */
const RUNNERS = new Set(["tsx", "ts-node", "ts-node-esm", "vite-node", "jiti", "babel-node"]);

/** Below these directories each installed package has a directory of its own name. */
const PACKAGE_DIRECTORIES = ["node_modules", "site-packages", "dist-packages"];

/**
 * Returns the name of the program that a script is: of the package it was installed with, else of its file without the
 * extension. null when that is a name like `main`, when it cannot be a tool's, or when it may not be a file's name at all: an
 * argument in a script's position may be private. The name of a directory is not used either: that is the user's project.
 */
export function nameScript({ kind, text }: Script): string | null {
  if (kind === "title") return null;
  return kind === "module" ? specific(...text.split(".")) : (namePackage(text) ?? nameFile(text));
}

/** True for a program that runs the script which is its next argument. */
export function isRunner(script: Script): boolean {
  return RUNNERS.has(nameScript(script) ?? "");
}

function namePackage(path: string): string | null {
  const specifier = /^(?:npm|jsr):\/?(?:(@[^/]+)\/)?([^/@]+)/.exec(path);
  if (specifier !== null) return specific(specifier[2], specifier[1]?.slice(1));
  const parts = path.split("/");
  const at = parts.findLastIndex((part) => PACKAGE_DIRECTORIES.includes(part));
  const [first, second] = parts.slice(at + 1, -1);
  // A command of a package is linked into a directory that begins with a dot.
  if (at === -1 || first === undefined || first.startsWith(".")) return null;
  return first.startsWith("@") ? specific(second, first.slice(1)) : specific(first);
}

function nameFile(path: string): string | null {
  const base = path.slice(path.lastIndexOf("/") + 1);
  const stem = base.replace(EXTENSION, "");
  if (stem === base && (!path.includes("/") || base.includes("."))) return null;
  return specific(base.endsWith(".jar") ? stem.replace(VERSION, "") : stem);
}

/** Returns the first of the names that identifies the program. */
function specific(...names: readonly (string | undefined)[]): string | null {
  const name = names.find((candidate) => candidate !== undefined && !GENERIC.has(candidate.toLowerCase()));
  return name === undefined ? null : parseToolName(name);
}
