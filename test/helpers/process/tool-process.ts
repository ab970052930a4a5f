import { spawn, type ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { copyFileSync, linkSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { scratchDirectory } from "./scratch-directory.ts";

export const NODE = realpathSync(process.execPath);

/** Makes a program, by default Node, available under another name: by a hard link, or a copy where that is impossible. */
export function linkProgram(t: TestContext, name: string, program = NODE): string {
  const path = join(scratchDirectory(t), name);
  try {
    linkSync(program, path);
  } catch {
    copyFileSync(program, path);
  }
  return path;
}

/**
 * Returns a program and arguments that run a shell line as if it were typed into a terminal. Its processes then belong to no
 * tool, even if a tool or an editor runs the test.
 */
export function asTypedInTerminal(t: TestContext, line: string): [file: string, args: string[]] {
  // The `exit` keeps the shell from replacing itself with the line's last program.
  return [linkProgram(t, "xterm", realpathSync("/bin/sh")), ["-c", `${line}\nexit $?`]];
}

/** A program that looks like a tool's process, and the name that identification must give it. */
interface FakeTool {
  tool: string;
  executable: string;
  command: readonly string[];
}

/**
 * Sends a request for each line of its input: `fresh 7` on a new connection, `kept 7` on the persistent one, with the number
 * as session id. Prints the number when the response is complete. Nothing but the process identifies the client.
 */
const CLIENT_SCRIPT = `
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

/** Creates three tools of different kinds: a native program, a package's script, and a script that sets its process title. */
export function createFakeTools(t: TestContext): readonly [FakeTool, FakeTool, FakeTool] {
  const claude = linkProgram(t, "claude");
  const script = (path: string, before = "") => {
    const file = join(scratchDirectory(t), path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, before + CLIENT_SCRIPT);
    return [NODE, "--no-warnings", file];
  };
  return [
    { tool: "claude-code", executable: claude, command: [claude, "-e", CLIENT_SCRIPT] },
    {
      tool: "qwen-code",
      executable: NODE,
      command: script("node_modules/@qwen-code/qwen-code/cli-entry.cjs"),
    },
    { tool: "pi", executable: NODE, command: script("x/main.cjs", 'process.title = "pi";') },
  ];
}

/** A running fake tool that sends requests on demand. */
export interface ToolProcess extends FakeTool {
  pid: number;
  /** Sends a request and resolves when the response is complete. */
  send(how: "fresh" | "kept", session: string): Promise<void>;
}

/** Starts a fake tool that sends its requests to `url`. It ends with the test. */
export async function startTool(t: TestContext, tool: FakeTool, url: string): Promise<ToolProcess> {
  const [file = "", ...args] = tool.command;
  const env = { PATH: process.env["PATH"], URL: url };
  const child: ChildProcess = spawn(file, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const responses = new EventEmitter().setMaxListeners(0);
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error("it has no pipes");
  createInterface({ input: stdout }).on("line", (session) => responses.emit(session));
  await once(child, "spawn");
  return {
    ...tool,
    pid: child.pid ?? 0,
    async send(how, session) {
      const received = once(responses, session);
      stdin.write(`${how} ${session}\n`);
      await received;
    },
  };
}
