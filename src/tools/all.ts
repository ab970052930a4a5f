import type {
  Evidence,
  ProcessSignature,
  RequestSignature,
  RequestSignatures,
} from "../core/identity/signatures.ts";
import { aider } from "./aider.ts";
import { amp } from "./amp.ts";
import { claudeCode } from "./claude-code.ts";
import { cline } from "./cline.ts";
import { codex } from "./codex.ts";
import { continueDev } from "./continue.ts";
import { copilot } from "./copilot.ts";
import { crush } from "./crush.ts";
import { droid } from "./droid.ts";
import { cursor } from "./editors/cursor.ts";
import { jetbrains } from "./editors/jetbrains.ts";
import { vscode } from "./editors/vscode.ts";
import { zed } from "./editors/zed.ts";
import { geminiCli } from "./gemini-cli.ts";
import { goose } from "./goose.ts";
import { junie } from "./junie.ts";
import { kilo } from "./kilo.ts";
import { kimiCode } from "./kimi-code.ts";
import { LIBRARY_SIGNATURES } from "./libraries.ts";
import { llm } from "./llm.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";
import { qwenCode } from "./qwen-code.ts";
import { sdk } from "./sdk.ts";
import type { ConnectableTool, Tool, ToolRequestSignature } from "./tool.ts";

const TERMINAL_TOOLS: readonly Tool[] = [
  claudeCode,
  codex,
  opencode,
  kilo,
  qwenCode,
  kimiCode,
  cline,
  continueDev,
  copilot,
  pi,
  droid,
  geminiCli,
  amp,
  crush,
  aider,
  goose,
  junie,
  llm,
];

/** Every tool, in the order in which `connect --list` and `doctor` print them. */
export const TOOLS: readonly Tool[] = [...TERMINAL_TOOLS, zed, vscode, cursor, jetbrains, sdk];

export const CONNECTABLE_TOOLS: readonly ConnectableTool[] = TOOLS.filter(isConnectable);

/** Names of the tools whose settings `connect` can write. For the others it prints instructions. */
export const WRITABLE_TOOL_NAMES: ReadonlySet<string> = new Set(
  CONNECTABLE_TOOLS.filter(({ scopes }) => scopes.length > 0).map(({ name }) => name),
);

/**
 * How requests are recognized. Any program can send any User-Agent, so the order decides:
 * - Kilo first: it sends opencode's User-Agent and originator along with headers of its own.
 * - Claude Code's session id before Qwen Code, which sends Claude Code's User-Agent; both before tools that are known
 *   by less.
 * - Weak signatures after the others of all tools: Copilot, Pi, Cline and Continue send the User-Agent of a library,
 *   and Copilot is the only one with a header of its own.
 * - Libraries last: they name what a program is written with.
 */
export const REQUEST_SIGNATURES: RequestSignatures = {
  tools: [...requestSignatures("strong"), ...requestSignatures("weak")],
  libraries: LIBRARY_SIGNATURES.map((row) => toSignature(row.tool, row, row)),
};

/**
 * How processes are recognized. Editors come after all other tools, because extensions run those tools from the editor's
 * own directories; Cursor comes before VS Code, whose programs it contains under the same names.
 */
export const PROCESS_SIGNATURES: readonly ProcessSignature[] = inOrder([
  ...TERMINAL_TOOLS,
  zed,
  cursor,
]).flatMap(({ name, isEditor, source, date, recorded, processSignatures = [] }) => {
  const evidence = { source: recorded?.source ?? source, date };
  return processSignatures.map((row) => ({ tool: name, ...(isEditor && { isEditor }), ...evidence, ...row }));
});

function requestSignatures(strength: "strong" | "weak"): RequestSignature[] {
  return inOrder([kilo, claudeCode, qwenCode]).flatMap((tool) =>
    (tool.requestSignatures ?? [])
      .filter(({ isWeak }) => (isWeak === true) === (strength === "weak"))
      .map((row) => toSignature(tool.name, row, evidenceOf(tool, row))),
  );
}

function evidenceOf({ recorded, source, date }: Tool, row: ToolRequestSignature): Evidence {
  return row.source === undefined ? (recorded ?? { source, date }) : { source: row.source, date };
}

/** Gives all signatures the same hidden class. Every request is compared with them, which is faster that way. */
function toSignature(
  tool: string,
  { when, without = [] }: ToolRequestSignature,
  { source, date }: Evidence,
): RequestSignature {
  return { tool, when: Object.entries(when), without, source, date };
}

/** Returns all tools, those of `first` before the others. */
function inOrder(first: readonly Tool[]): Tool[] {
  return [...new Set([...first, ...TOOLS])];
}

function isConnectable(tool: Tool): tool is ConnectableTool {
  return "plan" in tool;
}
