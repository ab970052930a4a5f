import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Failure } from "../../src/core/failure.ts";
import { describeSteps } from "../../src/service/describe-steps.ts";
import { CommandFailure, runSteps } from "../../src/service/run-steps.ts";
import type { Step } from "../../src/service/service-manager.ts";
import type { ProgramResult } from "../../src/service/run-program.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";

const DONE: ProgramResult = { code: 0, stdout: "", stderr: "" };

/** Runs steps whose programs return `results` in turn, the last one repeatedly. Returns the calls and reported lines. */
async function run(steps: Step[], ...results: ProgramResult[]) {
  const calls: string[] = [];
  const reported: string[] = [];
  let failure: unknown = null;
  const program = (argv: readonly string[]) => {
    calls.push(argv.join(" "));
    return Promise.resolve((results.length > 1 ? results.shift() : results[0]) ?? DONE);
  };
  await runSteps(steps, program, (line) => reported.push(line)).catch((error: unknown) => (failure = error));
  return { calls, reported, failure };
}

test("a file is written atomically, with its mode regardless of the umask, and reported", async (t) => {
  const path = join(scratchDirectory(t), "unit");
  const umask = process.umask(0o077);
  t.after(() => process.umask(umask));
  const { reported } = await run([{ kind: "write", path, text: "[Unit]\n", mode: 0o644 }]);
  assert.deepEqual(reported, [`wrote ${path}`]);
  assert.equal(readFileSync(path, "utf8"), "[Unit]\n");
  assert.equal(statSync(path).mode & 0o777, 0o644);
  assert.deepEqual(readdirSync(join(path, "..")), ["unit"]);
});

test("an unchanged file is left alone and does not count as a change for conditional commands", async (t) => {
  const path = join(scratchDirectory(t), "unit");
  writeFileSync(path, "same");
  const { ino, mtimeMs } = statSync(path);
  const steps: Step[] = [
    { kind: "write", path, text: "same", mode: 0o600 },
    { kind: "run", argv: ["restart"], ifChanged: true },
    { kind: "run", argv: ["start"] },
  ];
  const { calls, reported } = await run(steps);
  assert.deepEqual([statSync(path).ino, statSync(path).mtimeMs], [ino, mtimeMs]);
  assert.deepEqual(calls, ["start"]);
  assert.deepEqual(reported, ["running: start"]);
  assert.deepEqual(
    (await run([{ kind: "write", path, text: "new", mode: 0o600 }, ...steps.slice(1)])).calls,
    ["restart", "start"],
  );
});

test("a symbolic link in place of the file is replaced, and its target stays as it is", async (t) => {
  const directory = scratchDirectory(t);
  const [path, target] = [join(directory, "unit"), join(directory, "target")];
  writeFileSync(target, "theirs");
  symlinkSync(target, path);
  await run([{ kind: "write", path, text: "ours", mode: 0o644 }]);
  assert.deepEqual([readFileSync(path, "utf8"), readFileSync(target, "utf8")], ["ours", "theirs"]);
});

test("a missing directory is created with its parents, and an existing one is left alone", async (t) => {
  const path = join(scratchDirectory(t), "a", "b");
  const step: Step = { kind: "make-directory", path, mode: 0o700 };
  assert.deepEqual((await run([step])).reported, [`made ${path}`]);
  assert.equal(statSync(path).mode & 0o777, 0o700);
  assert.deepEqual((await run([step])).reported, []);
});

test("remove deletes files and empty directories, ignores missing paths and keeps directories with contents", async (t) => {
  const directory = scratchDirectory(t);
  const [file, full, empty] = [join(directory, "f"), join(directory, "full"), join(directory, "empty")];
  writeFileSync(file, "");
  mkdirSync(full);
  mkdirSync(empty);
  writeFileSync(join(full, "own.conf"), "");
  const steps = [file, full, empty, join(directory, "none")].map((path): Step => ({ kind: "remove", path }));
  assert.deepEqual((await run(steps)).reported, [`removed ${file}`, `removed ${empty}`]);
  assert.deepEqual(readdirSync(directory), ["full"]);
});

test("remove keeps a symbolic link to a directory and deletes one to a file", async (t) => {
  const directory = scratchDirectory(t);
  const [elsewhere, linked, unit] = ["elsewhere", "unit.d", "unit"].map((name) => join(directory, name));
  assert.ok(elsewhere !== undefined && linked !== undefined && unit !== undefined);
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, "sandbox.conf"), "");
  symlinkSync(elsewhere, linked);
  symlinkSync(join(directory, "none"), unit);
  const paths = [join(linked, "sandbox.conf"), linked, unit];
  const { reported } = await run(paths.map((path): Step => ({ kind: "remove", path })));
  assert.deepEqual(reported, [`removed ${linked}/sandbox.conf`, `removed ${unit}`]);
  assert.deepEqual(readdirSync(directory).sort(), ["elsewhere", "unit.d"]);
});

test("a failed write reports the path and leaves no temporary file", async (t) => {
  const directory = scratchDirectory(t);
  const path = join(directory, "unit");
  mkdirSync(path);
  const { failure } = await run([{ kind: "write", path, text: "x", mode: 0o644 }]);
  assert.ok(failure instanceof Failure);
  assert.match(failure.message, new RegExp(`^cannot write ${path}: it is a directory`));
  assert.deepEqual(readdirSync(directory), ["unit"]);
});

test("a failing command ends the plan with its output and a hint", async () => {
  const steps: Step[] = [
    { kind: "run", argv: ["systemctl", "start", "a b"] },
    { kind: "run", argv: ["never"] },
  ];
  const { calls, failure } = await run(steps, {
    code: 1,
    stdout: "",
    stderr: "Failed to start.\nSee logs.\n",
  });
  assert.deepEqual(calls, ["systemctl start a b"]);
  assert.ok(failure instanceof CommandFailure);
  assert.equal(failure.message, "systemctl start 'a b' failed: Failed to start.; See logs.");
  assert.match(failure.hint ?? "", /tollkeeper service status/);
});

test("a tolerated failure does not end the plan", async () => {
  const step: Step = { kind: "run", argv: ["stop"], tolerates: /not loaded/ };
  assert.equal((await run([step], { code: 5, stdout: "", stderr: "Unit x not loaded." })).failure, null);
  assert.ok((await run([step], { code: 5, stdout: "", stderr: "other" })).failure instanceof CommandFailure);
});

test("a command is repeated while its output asks for it, and its last result counts", async () => {
  const step: Step = { kind: "run", argv: ["print"], repeats: { while: /busy/, limitMs: 60_000 } };
  const busy = { code: 0, stdout: "busy", stderr: "" };
  assert.equal((await run([step], busy, busy, DONE)).calls.length, 3);
  const refused = { code: 1, stdout: "", stderr: "no" };
  assert.ok((await run([step], busy, refused)).failure instanceof CommandFailure);
  const never: Step = { kind: "run", argv: ["print"], repeats: { while: /busy/, limitMs: 0 } };
  assert.equal((await run([never], busy)).calls.length, 1);
});

test("a tried option is applied when its command succeeds, and otherwise omitted with the reason", async (t) => {
  const path = join(scratchDirectory(t), "sandbox.conf");
  const step: Step = {
    kind: "try",
    what: "the sandbox",
    argv: ["systemd-run"],
    exitCodes: { 217: "it may not" },
    onSuccess: [{ kind: "write", path, text: "x", mode: 0o644 }],
    onFailure: [{ kind: "remove", path }],
  };
  assert.deepEqual((await run([step])).reported, ["trying the sandbox", `wrote ${path}`]);
  const refused = await run([step], { code: 226, stdout: "", stderr: "" });
  assert.deepEqual(refused.reported, [
    "trying the sandbox",
    "the sandbox does not work on this system and is left out: exit code 226",
    `removed ${path}`,
  ]);
  assert.equal(existsSync(path), false);
  const whyWith = async (code: number, stderr: string) =>
    (await run([step], { code, stdout: "", stderr })).reported.join("\n");
  assert.match(await whyWith(217, ""), /is left out: it may not$/);
  assert.match(await whyWith(217, "its own words\n"), /is left out: its own words$/);
});

test("describeSteps shows every file with its contents and every command as it can be typed", () => {
  const lines = describeSteps([
    { kind: "make-directory", path: "/a", mode: 0o700 },
    { kind: "write", path: "/a/b", text: "one\n\ntwo\n", mode: 0o644 },
    { kind: "run", argv: ["x", "it's $HOME", ""], ifChanged: true },
    {
      kind: "try",
      what: "the sandbox",
      argv: ["y"],
      exitCodes: {},
      onSuccess: [{ kind: "run", argv: ["z"] }],
      onFailure: [{ kind: "remove", path: "/a/b" }],
    },
  ]);
  assert.deepEqual(lines, [
    "create the directory /a (mode 0700), if it does not exist",
    "write /a/b (mode 0644):",
    "    one",
    "",
    "    two",
    "run, if something has changed: x 'it'\\''s $HOME' ''",
    "try the sandbox: y",
    "if it works:",
    "    run: z",
    "if it does not:",
    "    remove /a/b, if it exists; a directory only if it is empty",
  ]);
});
