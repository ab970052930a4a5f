import { spawn, type ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { copyFileSync, linkSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { scratchDirectory } from "../keychain/keychain-session.ts";

export const NODE = realpathSync(process.execPath);

/** A program, Node if none is given, under another name: a link to it, or a copy where that cannot be. */
export function programCalled(t: TestContext, name: string, program = NODE): string {
  const path = join(scratchDirectory(t), name);
  try {
    linkSync(program, path);
  } catch {
    copyFileSync(program, path);
  }
  return path;
}

/**
 * Arguments for running a line as if it were typed into a terminal: its processes are nobody's, though a tool or an editor
 * may have started the test.
 */
export function typedInTerminal(t: TestContext, line: string): [file: string, args: string[]] {
  // With something to do behind it, no shell puts the line's program in its own place.
  return [programCalled(t, "xterm", realpathSync("/bin/sh")), ["-c", `${line}\nexit $?`]];
}

/** A program in the guise of a tool: what to run with which arguments, and what it is to be called. */
export interface Guise {
  tool: string;
  executable: string;
  command: readonly string[];
}

/**
 * Asks for what each line of its input says, `fresh 7` on a connection of its own and `kept 7` on the one that it keeps,
 * with the number as session. Says the number once it has the whole answer. Nothing else tells who it is.
 */
const ASKING = `
  const http = require("node:http");
  const kept = new http.Agent({ keepAlive: true, maxSockets: 1 });
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const [how, session] = line.split(" ");
    const agent = how === "kept" ? kept : new http.Agent({ keepAlive: false });
    const headers = { "content-type": "application/json", "session-id": session };
    const url = process.env.URL + "/v1/messages";
    http.request(url, { method: "POST", agent, headers }, (res) => {
      res.resume().on("end", () => console.log(session));
    }).end("{}");
  });`;

/** Three tools as they really run: a native program, a script of a package, a script that gives itself a title. */
export function guises(t: TestContext): readonly [Guise, Guise, Guise] {
  const claude = programCalled(t, "claude");
  const script = (path: string, before = "") => {
    const file = join(scratchDirectory(t), path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, before + ASKING);
    return [NODE, "--no-warnings", file];
  };
  return [
    { tool: "claude-code", executable: claude, command: [claude, "-e", ASKING] },
    {
      tool: "qwen-code",
      executable: NODE,
      command: script("node_modules/@qwen-code/qwen-code/cli-entry.cjs"),
    },
    { tool: "pi", executable: NODE, command: script("x/main.cjs", 'process.title = "pi";') },
  ];
}

/** A running program that asks when it is told to. */
export interface ToolProcess extends Guise {
  pid: number;
  /** Resolves once it has the whole answer. */
  ask(how: "fresh" | "kept", session: string): Promise<void>;
}

/** Starts the program, which sends its requests to `url`; it ends with the test. */
export async function startTool(t: TestContext, guise: Guise, url: string): Promise<ToolProcess> {
  const [file = "", ...args] = guise.command;
  const env = { PATH: process.env["PATH"], URL: url };
  const child: ChildProcess = spawn(file, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const answers = new EventEmitter().setMaxListeners(0);
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error("it has no pipes");
  createInterface({ input: stdout }).on("line", (session) => answers.emit(session));
  await once(child, "spawn");
  return {
    ...guise,
    pid: child.pid ?? 0,
    async ask(how, session) {
      const answered = once(answers, session);
      stdin.write(`${how} ${session}\n`);
      await answered;
    },
  };
}
