import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { examplesOf, findCommandPath, subcommandsOf } from "../../../src/cli/command-line/examples.ts";
import { writeOwnCommands } from "../../../src/core/text/own-commands.ts";
import { openCommandLine } from "../../helpers/daemon/run-program.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const SOURCES = join(import.meta.dirname, "../../../src");

/** A command of ours in a message, as far as its end is certain: a quote, a placeholder, or the next piece of advice. */
const COMMAND = /\btollkeeper (?<words>[a-z][\w-]*(?: (?!--(?: |$))[^\s;,"`()&|]+)*)/g;

interface Hint {
  /** Where it is written. */
  file: string;
  words: string[];
}

/** Returns the commands with options that the texts of the source name. */
function findHints(): Hint[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  return files.flatMap((file) => {
    const lines = readFileSync(join(SOURCES, file), "utf8").split("\n");
    const texts = lines.filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line));
    return texts.flatMap((line) =>
      [...line.matchAll(COMMAND)].map(({ groups }) => ({ file, words: groups?.["words"]?.split(" ") ?? [] })),
    );
  });
}

test("each option that a message or an example names is one of the command that it is typed with", async (t) => {
  const run = openCommandLine({ PATH: process.env["PATH"] ?? "", HOME: scratchDirectory(t) });
  const complete = async (...words: string[]) =>
    (await run("--complete", ...words)).stdout.trimEnd().split("\n");
  const commands = await complete("");
  const paths = commands.flatMap((name) => [name, ...subcommandsOf(name).map((sub) => `${name} ${sub}`)]);
  const examples = paths.flatMap((path) =>
    examplesOf(path).map((line): Hint => ({ file: "examples.ts", words: wordsOf(line) })),
  );
  const hints = [...findHints(), ...examples].filter(({ words }) =>
    words.some((word) => word.startsWith("--")),
  );
  assert.ok(hints.length > 100, `${hints.length} were found`);
  const options = new Map<string, Set<string>>();
  for (const { file, words } of hints) {
    const path = findCommandPath(words);
    const what = `${file}: tollkeeper ${words.join(" ")}`;
    assert.notEqual(path, "", what);
    const known = options.get(path) ?? new Set(await complete(...path.split(" "), "--"));
    options.set(path, known);
    for (const word of words.filter((one) => /^--[a-z]/.test(one))) {
      const option = word.replace(/[^\w-].*/, "");
      const isKnown = known.has(option) || known.has(option.replace("--no-", "--"));
      assert.ok(isKnown, `${what}: ${option}`);
    }
  }
});

/** Returns the words of the last command of ours in an example, without those of another program behind `--`. */
function wordsOf(line: string): string[] {
  return (line.split("tollkeeper ").at(-1) ?? "").replace(/ (?:--|[|>]) .*/, "").split(" ");
}

test("each command has an example, which is shown in its help and after wrong usage", async (t) => {
  const run = openCommandLine({ PATH: process.env["PATH"] ?? "", HOME: scratchDirectory(t) });
  const commands = (await run("--complete", "")).stdout.trimEnd().split("\n");
  assert.deepEqual(
    commands.filter((name) => examplesOf(name).length === 0),
    [],
  );
});

test("every command is written as it is typed here, and is given the configuration file only if it takes --config", async (t) => {
  const run = openCommandLine({ PATH: process.env["PATH"] ?? "", HOME: scratchDirectory(t) });
  const complete = async (...words: string[]) =>
    (await run("--complete", ...words)).stdout.trimEnd().split("\n");
  const given: string[] = [];
  for (const name of await complete("")) {
    const written = writeOwnCommands(`tollkeeper ${name} x`, "PROGRAM", "--config F");
    if (written !== `PROGRAM ${name} x`) given.push(name);
    else
      assert.ok(["service", "bridge", "statusline", "sandbox", "version", "completion"].includes(name), name);
    assert.match(written, /^PROGRAM /, name);
  }
  for (const name of given) assert.ok((await complete(name, "--")).includes("--config"), name);
});

test("a command that a hint prints for another configuration file acts on that file", async (t) => {
  const home = scratchDirectory(t);
  const file = join(home, "my own.jsonc");
  writeFileSync(file, '{ "listen": { "port": 18700 } }', { mode: 0o600 });
  const env = { PATH: process.env["PATH"] ?? "", HOME: home };
  for (const line of [
    ["serve", "--port", "80"],
    ["serve", "--port=80"],
  ]) {
    const { stderr } = await runProgram([...line, "--config", file], { env, cwd: home });
    const [, hint = ""] = /type: (tollkeeper .*)$/m.exec(stderr) ?? [];
    assert.equal(hint, `tollkeeper --config '${file}' config set listen.port 80`);
  }
  const set = await runProgram(["--config", file, "config", "set", "listen.port", "18701"], {
    env,
    cwd: home,
  });
  assert.equal(set.code, 0, set.stderr);
  assert.match(readFileSync(file, "utf8"), /18701/);
  assert.deepEqual(readdirSync(home), ["config.schema.json", "my own.jsonc"]);
  const completed = await runProgram(["--complete", "--config", file, "stat"], { env, cwd: home });
  assert.equal(completed.stdout, "statusline\nstatus\n");
});

test("--config without a file or a command says what is missing", async (t) => {
  const run = openCommandLine({ PATH: process.env["PATH"] ?? "", HOME: scratchDirectory(t) });
  assert.deepEqual(await run("--config"), {
    code: 2,
    stdout: "",
    stderr:
      "error: --config needs a value\nhint: name a file and a command: tollkeeper --config FILE status\n",
  });
  for (const words of [["--config", "/dev/null"], ["--config=/dev/null"]]) {
    const { code, stderr } = await run(...words);
    assert.equal(code, 2);
    assert.equal(stderr, "error: a command is missing\nhint: to see all commands, type: tollkeeper --help\n");
  }
});
