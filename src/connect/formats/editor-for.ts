import type { Format } from "../../tools/setting.ts";
import type { FormatEditor } from "./format-editor.ts";
import { jsonc } from "./jsonc.ts";
import { shellEditor } from "./shell.ts";
import { splitByteOrderMark } from "./text-edits.ts";
import { toml } from "./toml.ts";
import { yaml } from "./yaml.ts";

const EDITORS = { jsonc, toml, yaml };

/** Returns the editor of a format. `owner` is the tool whose block is edited in files that several tools share. */
export function editorFor(format: Format, owner: string): FormatEditor {
  return format === "sh" || format === "fish" ? shellEditor(format, owner) : EDITORS[format];
}

/** Parses a document, with or without a byte order mark. @throws DocumentError */
export function readDocument(text: string, format: Format, owner: string): object {
  return editorFor(format, owner).read(splitByteOrderMark(text).body);
}
