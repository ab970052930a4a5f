import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { buildJsonSchema } from "../../core/config/schema.ts";
import { Failure, hasCode } from "../../core/failure.ts";
import { refuseExposed } from "../../adapters/trust/exposure.ts";
import { isInteractive } from "../terminal/confirm.ts";
import { replaceFile } from "../../replace-file.ts";

/** The name of the JSON Schema beside a configuration file. */
export const SCHEMA_FILE = "config.schema.json";

/** The initial configuration file. It is valid, and has the same effect as no file. */
export const TEMPLATE = `{
  "$schema": "./${SCHEMA_FILE}",

  // Where requests go. With no upstream here, the built-in sandbox responds.
  // The key itself never belongs in this file: store it with "tollkeeper key set".
  "upstreams": {
    // "default": { "baseUrl": "https://api.example.com/v1" },
  },

  // Tools that use another upstream, or a key of their own.
  "tools": {
    // "codex": { "key": "codex" },
  },

  // Everything else has a default: "tollkeeper config schema" explains every key.
}
`;

/**
 * Opens a configuration file in the user's editor and waits until the editor exits. Creates the file when it is missing,
 * and next to it the JSON Schema from which editors document and complete keys.
 * @throws Failure when no editor is found, or when it exits with an error
 */
export async function editConfig(path: string, env: NodeJS.ProcessEnv): Promise<void> {
  const editor = findEditor(env);
  if (editor === null)
    throw new Failure("no editor was found", `set VISUAL or EDITOR, or open ${path} yourself`);
  if (needsTerminal(editor) && !isInteractive())
    throw new Failure(
      `the editor "${editor}" needs a terminal`,
      `to set one value, type for example: tollkeeper config set listen.port 8700; or edit the file yourself: ${path}`,
    );
  await prepare(path);
  const child = startEditor(editor, path);
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Failure(`the editor failed: ${editor}`, "check the variables VISUAL and EDITOR");
}

/** Debian's chooser, then the two that nearly every system has. */
const COMMON_EDITORS = ["sensible-editor", "nano", "vi"];

function findEditor(env: NodeJS.ProcessEnv): string | null {
  const chosen = env["VISUAL"] || env["EDITOR"];
  if (chosen !== undefined && chosen !== "") return chosen;
  const directories = (env["PATH"] ?? "").split(delimiter);
  const isInstalled = (name: string) => directories.some((directory) => existsSync(join(directory, name)));
  return COMMON_EDITORS.find(isInstalled) ?? null;
}

/** Editors that draw on the terminal. Without one they fail, or wait for keys that never come. */
const ON_TERMINAL = new Set(
  "sensible-editor nano pico vi vim nvim view ex emacs mg micro hx helix joe jed ne mcedit kak".split(" "),
);

function needsTerminal(editor: string): boolean {
  const [program = ""] = editor.trim().split(/\s+/);
  return ON_TERMINAL.has(basename(program));
}

async function prepare(path: string): Promise<void> {
  const directory = dirname(path);
  await refuseExposed(path, `the configuration ${path}`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(path, TEMPLATE, { flag: "wx", mode: 0o600 }).catch((error: unknown) => {
    if (!hasCode(error, "EEXIST")) throw error;
  });
  await writeSchema(path);
}

/** Writes the JSON Schema beside a configuration file. Each time, because a newer tollkeeper may have new keys. */
export async function writeSchema(path: string): Promise<void> {
  const text = `${JSON.stringify(buildJsonSchema(), null, 2)}\n`;
  // Never through a link that somebody has put there (SECURITY.md E4).
  replaceFile(join(dirname(path), SCHEMA_FILE), text);
}

/** The variables hold a command line such as `code --wait`, so they are run by a shell; the path is passed as an argument. */
function startEditor(editor: string, path: string) {
  if (process.platform === "win32") return spawn(`${editor} "${path}"`, { shell: true, stdio: "inherit" });
  return spawn("sh", ["-c", `${editor} "$1"`, "sh", path], { stdio: "inherit" });
}
