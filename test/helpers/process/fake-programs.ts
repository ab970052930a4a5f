import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** The result of a call. The first one that matches applies; a call without a match succeeds without output. */
export interface FakeResult {
  /** A pattern for all arguments, joined by spaces; `*` stands for any text. */
  match: string;
  /** How many calls get this result, by default all. Later ones get the next match. */
  times?: number;
  stdout?: string;
  stderr?: string;
  code?: number;
  /** A shell command to run after the output. */
  does?: string;
}

/** Programs that record their calls and return scripted results. */
interface FakePrograms {
  /** To be put first on the caller's PATH. */
  directory: string;
  /** Returns every call so far, in order: the program's name and its arguments. */
  calls(): string[][];
}

const ARGUMENT_END = "\u001f";
const CALL_END = "\u001e";

/** Creates programs with these names in a directory that is removed with the test. */
export function fakePrograms(t: TestContext, table: Record<string, readonly FakeResult[]>): FakePrograms {
  const directory = mkdtempSync(join(tmpdir(), "tollkeeper-programs-"));
  t.after(() => rmSync(directory, { recursive: true }));
  for (const [program, results] of Object.entries(table)) {
    // Shell scripts, because Node takes 50 ms to start.
    const script = ["#!/bin/sh", `cd ${quote(directory)}`, record(program), ...results.map(respond), ""];
    writeFileSync(join(directory, program), script.join("\n"), { mode: 0o755 });
  }
  return { directory, calls: () => readCalls(join(directory, "calls")) };
}

/** Writes the call at once, because two programs may be called at the same time. */
function record(program: string): string {
  return `call=$(printf '%s\\037' ${quote(program)} "$@"; printf '\\036'); printf %s "$call" >>calls`;
}

/** Counts the uses of each result in a file of its own, by one byte for each. */
function respond(result: FakeResult, index: number): string {
  const { match, times, stdout = "", stderr = "", code = 0, does = "true" } = result;
  const pattern = match.split("*").map(quote).join("*");
  const count = `"\${0##*/}.used-${index}"`;
  const isLeft = times === undefined ? "true" : `[ "$(cat ${count} 2>/dev/null | wc -c)" -lt ${times} ]`;
  const say = `printf . >>${count}; printf %s ${quote(stdout)}; printf %s ${quote(stderr)} >&2; ${does}; exit ${code}`;
  return `case "$*" in ${pattern}) if ${isLeft}; then ${say}; fi;; esac`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function readCalls(file: string): string[][] {
  const calls = existsSync(file) ? readFileSync(file, "utf8").split(CALL_END).slice(0, -1) : [];
  return calls.map((call) => call.split(ARGUMENT_END).slice(0, -1));
}
