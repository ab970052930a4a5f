/** One row of evidence: a process is this program when its name is listed, or its path matches. */
export interface ProcessSignature {
  tool: string;
  /** An editor names what it starts itself, but not what somebody types into the shell of its terminal. */
  isEditor?: true;
  /** Of the executable, or of the script that an interpreter runs: base names, lower case, without `.exe`. */
  names?: readonly string[];
  /** Of the executable's or the script's whole path. */
  path?: RegExp;
  /** Where the row is known from. */
  source: string;
  /** When that was recorded or looked up, `YYYY-MM-DD`. */
  date: string;
}

const LOOKED_UP = "2026-11-22";
const from = (source: string) => ({ source, date: LOOKED_UP });
/** Seen in the package as npm installs it here. */
const npm = (what: string) => from(`npm package ${what}`);

const EDITOR_LISTS = "github.com/vitejs/launch-editor, packages/launch-editor/editor-info";

const JETBRAINS_IDES =
  "idea pycharm webstorm phpstorm goland clion rider rubymine rustrover datagrip dataspell".split(" ");

const TOOLS: readonly ProcessSignature[] = [
  { tool: "claude-code", names: ["claude"], ...npm("@anthropic-ai/claude-code 2.1.329") },
  {
    tool: "claude-code",
    path: /\/@anthropic-ai\/claude-(?:code|agent-sdk)[^/]*\//,
    ...npm("@anthropic-ai/claude-code 2.1.329, @anthropic-ai/claude-agent-sdk 0.3.329"),
  },
  {
    tool: "claude-code",
    // What its native installer puts there is called after the version.
    path: /\/claude\/versions\/[^/]+$/,
    ...from("github.com/anthropics/claude-code/issues/24241"),
  },
  { tool: "codex", names: ["codex", "codex-code-mode-host"], ...npm("@openai/codex 0.169.0") },
  { tool: "codex", path: /\/@openai\/codex[^/]*\//, ...npm("@openai/codex 0.169.0") },
  { tool: "opencode", names: ["opencode"], ...npm("opencode-ai 1.18.33") },
  { tool: "kilo", names: ["kilo", "kilocode"], ...npm("@kilocode/cli 7.7.7") },
  { tool: "qwen-code", names: ["qwen"], ...npm("@qwen-code/qwen-code 0.24.4") },
  { tool: "qwen-code", path: /\/@qwen-code\/qwen-code\//, ...npm("@qwen-code/qwen-code 0.24.4") },
  { tool: "cline", names: ["cline"], ...npm("cline 3.0.65") },
  { tool: "continue", names: ["cn"], ...npm("@continuedev/cli 1.5.47") },
  { tool: "continue", path: /\/@continuedev\/cli\//, ...npm("@continuedev/cli 1.5.47") },
  { tool: "copilot", names: ["copilot", "copilot-linux-x64"], ...npm("@github/copilot 1.0.102") },
  { tool: "copilot", path: /\/@github\/copilot[^/]*\//, ...npm("@github/copilot 1.0.102") },
  // It also gives itself this name as its title, in place of its arguments.
  { tool: "pi", names: ["pi"], ...npm("@earendil-works/pi-coding-agent 0.74.2") },
  { tool: "pi", path: /\/pi-coding-agent\//, ...npm("@earendil-works/pi-coding-agent 0.74.2") },
  { tool: "droid", names: ["droid"], ...npm("@factory/cli-linux-x64 0.225.2") },
  { tool: "gemini", names: ["gemini"], ...from("npm registry, @google/gemini-cli 0.61.0, bin") },
  { tool: "gemini", path: /\/@google\/gemini-cli\//, ...from("npm registry, @google/gemini-cli 0.61.0") },
  { tool: "amp", names: ["amp"], ...from("npm registry, @sourcegraph/amp 0.0.1790142911, bin") },
  { tool: "crush", names: ["crush"], ...from("npm registry, @charmland/crush 0.96.1, bin") },
  { tool: "aider", names: ["aider"], ...from("aider.chat/docs/install.html") },
  {
    tool: "goose",
    names: ["goose", "goosed"],
    ...from("mintlify.com/block/goose/installation, and /advanced/server-deployment"),
  },
];

const EDITORS: readonly Omit<ProcessSignature, "isEditor">[] = [
  { tool: "zed", names: ["zed", "zed-editor"], ...from(EDITOR_LISTS) },
  { tool: "zed", names: ["zeditor", "zedit"], ...from("zed.dev/docs/linux") },
  { tool: "cursor", names: ["cursor"], ...from(EDITOR_LISTS) },
  // An app's parts have names of their own on macOS; so has the Node with which an editor works on another machine.
  { tool: "cursor", path: /\/Cursor\.app\//, ...from(EDITOR_LISTS) },
  { tool: "cursor", path: /\/\.cursor-server\//, ...from("github.com/cursor/cursor/issues/3201") },
  { tool: "vscode", names: ["code", "code-insiders", "codium", "vscodium"], ...from(EDITOR_LISTS) },
  { tool: "vscode", path: /\/(?:Visual Studio Code[^/]*|VSCodium)\.app\//, ...from(EDITOR_LISTS) },
  {
    tool: "vscode",
    path: /\/\.vscode-server(?:-insiders)?\//,
    ...from("github.com/microsoft/vscode-remote-release/issues/262"),
  },
  {
    tool: "jetbrains",
    names: JETBRAINS_IDES,
    ...from("github.com/JonasGroeger/jetbrains-ppa/issues/72: native launchers since 2024.2"),
  },
  {
    tool: "jetbrains",
    // Their script launchers run the Java that they bring along.
    path: /\/jbr\/(?:Contents\/Home\/)?bin\/java$/,
    ...from("github.com/flathub/com.jetbrains.IntelliJ-IDEA-Community/issues/177"),
  },
];

/** By what processes of tools and editors are told; the first row that fits counts. */
export const PROCESS_SIGNATURES: readonly ProcessSignature[] = [
  ...TOOLS,
  ...EDITORS.map((row) => ({ ...row, isEditor: true as const })),
];
