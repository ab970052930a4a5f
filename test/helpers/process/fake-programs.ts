import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** What a program says to a call. The first that matches is given; a call that none matches succeeds in silence. */
export interface FakeAnswer {
  /** Of all arguments, joined by spaces; `*` stands for any text. */
  match: string;
  /** How many calls get it, all when left out; the later ones get what matches next. */
  times?: number;
  stdout?: string;
  stderr?: string;
  code?: number;
  /** What it does after that, in the words of a shell. */
  does?: string;
}

/** Programs that record how they are called, and play answers back. */
export interface FakePrograms {
  /** To stand first on the PATH of who calls them. */
  directory: string;
  /** Every call so far, in order: the program's name and its arguments. */
  calls(): string[][];
}

const ARGUMENT_END = "\u001f";
const CALL_END = "\u001e";

/** Makes programs of these names in a directory of their own, which is removed with the test. */
export function fakePrograms(t: TestContext, table: Record<string, readonly FakeAnswer[]>): FakePrograms {
  const directory = mkdtempSync(join(tmpdir(), "tollkeeper-programs-"));
  t.after(() => rmSync(directory, { recursive: true }));
  for (const [program, answers] of Object.entries(table)) {
    // Shell and not Node, which would take 50 ms for each call.
    const script = ["#!/bin/sh", `cd ${quote(directory)}`, record(program), ...answers.map(answer), ""];
    writeFileSync(join(directory, program), script.join("\n"), { mode: 0o755 });
  }
  return { directory, calls: () => readCalls(join(directory, "calls")) };
}

function record(program: string): string {
  return `{ printf '%s\\037' ${quote(program)} "$@"; printf '\\036'; } >>calls`;
}

/** A count of its own for each answer: a file with a byte for each time that it was given. */
function answer(given: FakeAnswer, index: number): string {
  const { match, times, stdout = "", stderr = "", code = 0, does = "true" } = given;
  const pattern = match.split("*").map(quote).join("*");
  const count = `"\${0##*/}.given-${index}"`;
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
