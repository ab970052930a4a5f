import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { SCRIPTS } from "../../../src/cli/completion/scripts.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

/** Puts the program, as it is installed, first on the PATH of a home directory without settings. */
function prepare(t: TestContext) {
  const home = scratchDirectory(t);
  const program = join(home, "bin", "tollkeeper");
  mkdirSync(join(home, "bin"));
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  chmodSync(program, 0o755);
  return { HOME: home, PATH: `${join(home, "bin")}:${process.env["PATH"] ?? ""}` };
}

function isMissing(shell: string): string | false {
  try {
    execFileSync(shell, ["-c", "true"], { stdio: "ignore" });
    return false;
  } catch {
    return `not installed: ${shell} (apt-get install ${shell})`;
  }
}

function runShell(t: TestContext, argv: readonly string[], script: string): string[] {
  const [file = "", ...options] = argv;
  const output = execFileSync(file, [...options, "-c", script], { env: prepare(t), encoding: "utf8" });
  return output.split("\n").filter((line) => line !== "");
}

// In the mode of POSIX a newer bash lacks some of what it has added.
for (const argv of [["bash"], ["bash", "--posix"]]) {
  const skip = isMissing("bash");
  test(
    `the completion script of bash completes options, commands and nothing (${argv.join(" ")})`,
    { skip },
    (t) => {
      const complete = (...words: string[]) =>
        runShell(
          t,
          argv,
          `${SCRIPTS.bash}\nCOMP_WORDS=(${words.join(" ")}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _tollkeeper; printf '%s\\n' "\${#COMPREPLY[@]}" "\${COMPREPLY[@]}"`,
        );
      assert.deepEqual(complete("tollkeeper", "usage", "--si"), ["1", "--since"]);
      assert.deepEqual(complete("tollkeeper", "doc"), ["1", "doctor"]);
      assert.deepEqual(complete("tollkeeper", "key", '""'), ["4", "set", "list", "test", "remove"]);
      assert.deepEqual(complete("tollkeeper", "nothing", "xyzzy"), ["0"]);
    },
  );
}

test("the completion script of bash uses nothing that bash 3.2 lacks, which is that of macOS", () => {
  // CHANGES and NEWS of bash 4.0 to 5.2.
  const later = [
    /\b(?:mapfile|readarray|coproc|compopt)\b/,
    /\b(?:declare|local|typeset) -[a-zA-Z]*[Agnlu]/,
    /\$\{[^}]*(?:\^|,,|,[}]|@[A-Zaku]})/,
    /&>>|\|&|;;&|;&/,
    /\[-\d+\]|\$\{[^}]*: -/,
    /\bread [^;\n]*-[a-zA-Z]*[iN]/,
    /\bprintf [^;\n]*(?:-v \w+\[|%\()/,
    /\bshopt [^;\n]*(?:globstar|autocd|lastpipe|dirspell)/,
    /\[\[? -[vR] /,
    /\$(?:BASHPID|EPOCH\w+|SRANDOM)|\{[\w-]+\.\.[\w-]+\.\.[\w-]+\}|exec \{\w+\}/,
  ];
  for (const feature of later) assert.doesNotMatch(SCRIPTS.bash, feature);
});

test(
  "the completion script of zsh offers the words that the program names",
  { skip: isMissing("zsh") },
  (t) => {
    // Outside of a line editor there is no compadd.
    const stubs = "compdef() {}; compadd() { print -l -- $found }; _files() { print files }";
    const complete = (words: string) =>
      runShell(t, ["zsh", "-f"], `${stubs}\n${SCRIPTS.zsh}\nwords=(${words}); CURRENT=$#words; _tollkeeper`);
    assert.deepEqual(complete("tollkeeper usage --si"), ["--since"]);
    assert.deepEqual(complete("tollkeeper nothing xyzzy"), ["files"]);
  },
);

test(
  "the completion script of fish offers the words that the program names",
  { skip: isMissing("fish") },
  (t) => {
    const found = runShell(
      t,
      ["fish", "--no-config"],
      `${SCRIPTS.fish}\ncomplete -C 'tollkeeper usage --si'`,
    );
    assert.deepEqual(found, ["--since"]);
  },
);
