import assert from "node:assert/strict";
import { test } from "node:test";
import { isLastParent, nameProcess, type Program } from "../../../src/core/identity/process-name.ts";

/** `/usr/bin/node /opt/x/cli.js` is what runs a script; a bare name stands for a process whose path cannot be seen. */
function program(text: string): Program {
  const [executable = "", script = null] = text.split(" > ");
  return { executable, script };
}

/** How processes are called which were started like this, the last by the one before it. */
function nameOf(...chain: string[]): string | null {
  const name = nameProcess(chain.map(program).toReversed());
  return name === null ? null : `${name.tool}${name.isOwn ? " (own)" : ""}`;
}

const TERMINAL = ["systemd", "/usr/libexec/gnome-terminal-server", "/usr/bin/zsh"];

for (const [path, tool] of [
  ["/home/u/.local/share/claude/versions/2.1.329", "claude-code"],
  ["/usr/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe", "claude-code"],
  ["/x/node_modules/@anthropic-ai/claude-agent-sdk-linux-x64/claude", "claude-code"],
  ["/home/u/.vscode/extensions/anthropic.claude-code-2.1.0/resources/native-binary/claude", "claude-code"],
  ["/usr/bin/node > /usr/local/bin/claude", "claude-code"],
  ["/x/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex", "codex"],
  ["/usr/bin/node > /x/node_modules/@openai/codex/bin/codex.js", "codex"],
  ["/x/node_modules/opencode-ai/bin/opencode.exe", "opencode"],
  ["/x/node_modules/@kilocode/cli-linux-x64/bin/kilo", "kilo"],
  ["/usr/bin/node > /usr/local/bin/qwen", "qwen-code"],
  ["/usr/bin/node > /x/node_modules/@qwen-code/qwen-code/cli-entry.js", "qwen-code"],
  ["/usr/bin/node-22 > /x/node_modules/@continuedev/cli/dist/cn.js", "continue"],
  ["/x/node_modules/@cline/cli-linux-x64/bin/cline", "cline"],
  ["/x/node_modules/@github/copilot-linux-x64/copilot", "copilot"],
  ["/usr/bin/node > pi", "pi"],
  ["/x/node_modules/@factory/cli-linux-x64/bin/droid", "droid"],
  ["/usr/bin/python3.11 > aider", "aider"],
  ["/usr/bin/python3 > /home/u/.local/bin/aider", "aider"],
  ["/usr/local/bin/goose", "goose"],
  ["/usr/libexec/zed-editor", "zed"],
  ["/usr/share/code/code", "vscode"],
  ["/home/u/.vscode-server/bin/abc/node > /home/u/.vscode-server/bin/abc/out/bootstrap-fork", "vscode"],
  ["/Applications/Visual Studio Code.app/Contents/Frameworks/Code Helper (Plugin)", "vscode"],
  ["/home/u/.cursor-server/bin/abc/node > out/bootstrap-fork", "cursor"],
  ["/Applications/Cursor.app/Contents/MacOS/Cursor", "cursor"],
  ["/opt/idea/bin/idea", "jetbrains"],
  ["/opt/pycharm/jbr/bin/java", "jetbrains"],
] as const) {
  test(`${path} is ${tool}`, () => assert.equal(nameOf(...TERMINAL, path), tool));
}

for (const [what, chain, name] of [
  [
    "a curl that a tool's shell has started is the tool's",
    [...TERMINAL, "/usr/bin/claude", "/usr/bin/bash", "/usr/bin/curl"],
    "claude-code",
  ],
  ["a curl typed by hand has its own name", [...TERMINAL, "/usr/bin/curl"], "curl (own)"],
  [
    "the nearest tool counts",
    [...TERMINAL, "/usr/bin/codex", "/usr/bin/sh", "/usr/bin/claude"],
    "claude-code",
  ],
  [
    "a tool that an editor runs is the tool",
    ["systemd", "/usr/libexec/zed-editor", "/usr/bin/node > /x/@openai/codex/bin/codex.js"],
    "codex",
  ],
  ["what an editor starts itself is the editor's", ["/usr/share/code/code", "/usr/bin/curl"], "vscode"],
  [
    "what is typed in an editor's terminal is not the editor's",
    ["/usr/share/code/code", "/bin/zsh", "/usr/bin/curl"],
    "curl (own)",
  ],
  [
    "nor is a script that is run there",
    ["/opt/idea/bin/idea", "/bin/bash", "/usr/bin/python3 > report.py"],
    null,
  ],
  [
    "above a terminal nobody is asked",
    ["/usr/share/code/code", "/usr/bin/tmux", "/usr/bin/node > x.js"],
    null,
  ],
  ["above a session's manager nobody is asked", ["/usr/bin/claude", "sshd", "/opt/report"], "report (own)"],
  ["a name cut by the kernel ends it, too", ["/usr/bin/claude", "gnome-terminal-", "/usr/bin/node"], null],
  ["a login shell is a shell", ["/usr/share/code/code", "-zsh", "/opt/Report.EXE"], "report (own)"],
  ["a shell has no name of its own", [...TERMINAL, "/bin/bash"], null],
  ["an interpreter has none", [...TERMINAL, "/usr/bin/python3.11 > /home/u/report.py"], null],
  ["a loader has none", [...TERMINAL, "/lib64/ld-linux-x86-64.so.2"], null],
  ["a forwarded connection's sshd has none", ["systemd", "sshd"], null],
  ["what cannot be a tool's name is none", [...TERMINAL, "/opt/My Tool"], null],
  [
    "a name that only begins like a tool's is not the tool's",
    [...TERMINAL, "/opt/claudette"],
    "claudette (own)",
  ],
  ["nobody has no name", [], null],
] as const) {
  test(`${what}: ${chain.join(", ")}`, () => assert.equal(nameOf(...chain), name));
}

test("the parents end with a terminal, a session's manager or an editor, and not with a tool", () => {
  for (const last of ["/usr/lib/systemd/systemd", "/usr/bin/tmux", "tmux: server", "/usr/share/code/code"]) {
    assert.equal(isLastParent(program(last)), true, last);
  }
  for (const other of ["/usr/bin/bash", "/usr/bin/claude", "/usr/bin/node > x.js"]) {
    assert.equal(isLastParent(program(other)), false, other);
  }
});
