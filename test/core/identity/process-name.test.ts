import assert from "node:assert/strict";
import { test } from "node:test";
import { isLastParent, nameProcess } from "../../../src/core/identity/process-name.ts";
import type { ProcessSignature } from "../../../src/core/identity/signatures.ts";
import { parseProgram } from "../../helpers/tools/parse-program.ts";

const ORIGIN = { source: "this test", date: "2026-11-22" };

const SIGNATURES: readonly ProcessSignature[] = [
  { tool: "claude-code", names: ["claude"], ...ORIGIN },
  { tool: "codex", names: ["codex"], ...ORIGIN },
  { tool: "codex", path: /\/@openai\/codex\//, ...ORIGIN },
  { tool: "zed", names: ["zed-editor"], isEditor: true, ...ORIGIN },
  { tool: "vscode", names: ["code"], isEditor: true, ...ORIGIN },
  { tool: "jetbrains", names: ["idea"], isEditor: true, ...ORIGIN },
];

/** Names the last of these processes, each started by the one before it. */
function nameLast(...chain: string[]): string | null {
  const name = nameProcess(chain.map(parseProgram).toReversed(), SIGNATURES);
  return name === null ? null : `${name.tool}${name.isProgramName ? " (program)" : ""}`;
}

const TERMINAL = ["systemd", "/usr/libexec/gnome-terminal-server", "/usr/bin/zsh"];

for (const [what, chain, name] of [
  [
    "a curl that a tool's shell started belongs to the tool",
    [...TERMINAL, "/usr/bin/claude", "/usr/bin/bash", "/usr/bin/curl"],
    "claude-code",
  ],
  [
    "a curl typed in a terminal has only its executable's name",
    [...TERMINAL, "/usr/bin/curl"],
    "curl (program)",
  ],
  [
    "of two tools among the parents the nearest names the process",
    [...TERMINAL, "/usr/bin/codex", "/usr/bin/sh", "/usr/bin/claude"],
    "claude-code",
  ],
  [
    "a tool that an editor started is named as the tool",
    ["systemd", "/usr/libexec/zed-editor", "/usr/bin/node > /x/@openai/codex/bin/codex.js"],
    "codex",
  ],
  [
    "a process that an editor started itself belongs to the editor",
    ["/usr/share/code/code", "/usr/bin/curl"],
    "vscode",
  ],
  [
    "a program typed in an editor's terminal does not belong to the editor",
    ["/usr/share/code/code", "/bin/zsh", "/usr/bin/curl"],
    "curl (program)",
  ],
  [
    "a script run in an editor's terminal has the script's name",
    ["/opt/idea/bin/idea", "/bin/bash", "/usr/bin/python3 > report.py"],
    "report (program)",
  ],
  [
    "an editor above a terminal multiplexer names nothing",
    ["/usr/share/code/code", "/usr/bin/tmux", "/usr/bin/node > index.js"],
    null,
  ],
  [
    "a tool above a session manager names nothing",
    ["/usr/bin/claude", "sshd", "/opt/report"],
    "report (program)",
  ],
  [
    "a terminal is recognized by a name that the kernel truncated",
    ["/usr/bin/claude", "gnome-terminal-", "/usr/bin/node"],
    null,
  ],
  [
    "a login shell counts as a shell between editor and program",
    ["/usr/share/code/code", "-zsh", "/opt/Report.EXE"],
    "report (program)",
  ],
  ["a shell typed in a terminal has no name", [...TERMINAL, "/bin/bash"], null],
  [
    "an interpreter has its script's name",
    [...TERMINAL, "/usr/bin/node > /home/u/promptfoo.js"],
    "promptfoo (program)",
  ],
  ["an interpreter without a script has no name", [...TERMINAL, "/usr/bin/python3.11"], null],
  [
    "an interpreter whose script has a name like any other has none",
    [...TERMINAL, "/usr/bin/bun > index.ts"],
    null,
  ],
  [
    "a script that a tool has started belongs to the tool",
    [...TERMINAL, "/usr/bin/claude", "/usr/bin/bash", "/usr/bin/node > report.js"],
    "claude-code",
  ],
  ["a dynamic loader has no name", [...TERMINAL, "/lib64/ld-linux-x86-64.so.2"], null],
  ["the sshd of a forwarded connection has no name", ["systemd", "sshd"], null],
  ["an executable's name that is no valid tool name is not used", [...TERMINAL, "/opt/My Tool"], null],
  [
    "an executable's name that only starts with a tool's name does not match it",
    [...TERMINAL, "/opt/claudette"],
    "claudette (program)",
  ],
  ["an empty chain has no name", [], null],
] as const) {
  test(`${what}: ${chain.join(", ")}`, () => assert.equal(nameLast(...chain), name));
}

test("the chain of parents ends with a terminal, a session manager or an editor, but not with a tool or a shell", () => {
  for (const last of ["/usr/lib/systemd/systemd", "/usr/bin/tmux", "tmux: server", "/usr/share/code/code"]) {
    assert.equal(isLastParent(parseProgram(last), SIGNATURES), true, last);
  }
  for (const other of ["/usr/bin/bash", "/usr/bin/claude", "/usr/bin/node > x.js"]) {
    assert.equal(isLastParent(parseProgram(other), SIGNATURES), false, other);
  }
});
