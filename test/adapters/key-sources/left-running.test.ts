import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, stat, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { COMMAND_TIMEOUT_MS } from "../../../src/core/secrets/key-source.ts";
import { runKeyCommand } from "../../../src/adapters/key-sources/key-command.ts";
import { holdTime } from "../../helpers/async/hold-time.ts";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { withResolvers } from "../../helpers/async/with-resolvers.ts";
import { waitForExit } from "../../helpers/process/processes.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

// A key command has ended when its own process has, whoever still holds its output.

const KEY = "sk-test-0123456789";
const notLinux = process.platform !== "linux" && "looks for processes and descriptors in Linux's /proc";

/** What a script has printed up to the end of its first line, on which a key is. */
async function run(script: string): Promise<string | undefined> {
  return (await runKeyCommand(["sh", "-c", script], COMMAND_TIMEOUT_MS)).split("\n", 1)[0];
}

/** A file in which a script writes the id of a process that it leaves running. That process is killed with the test. */
function backgroundProcess(t: TestContext): { file: string; pid(): number } {
  const pid = () => Number(readFileSync(file, "utf8"));
  t.after(() => process.kill(pid(), "SIGKILL"));
  const file = join(scratchDirectory(t), "pid");
  return { file, pid };
}

function makePipe(t: TestContext): string {
  const path = join(scratchDirectory(t), "pipe");
  execFileSync("mkfifo", [path]);
  return path;
}

/** What a process that was left running does with the command's output. */
const LEFT_RUNNING: Record<string, string> = {
  "has closed its output": "exec sleep 600 > /dev/null 2>&1",
  "keeps its output open": "exec sleep 600",
  "keeps its standard error open": "exec sleep 600 > /dev/null",
  "goes on printing": "trap '' PIPE; while :; do echo more; sleep 0.01; done 2> /dev/null",
};

for (const [what, background] of Object.entries(LEFT_RUNNING)) {
  test(`gives what the command has printed when a process that it left running ${what}, and does not kill that`, async (t) => {
    const { file, pid } = backgroundProcess(t);
    holdTime(t);
    assert.equal(await run(`echo ${KEY}; (${background}) & echo $! > ${file}`), KEY);
    // Throws when the process does not exist.
    process.kill(pid(), 0);
  });

  test(`reports the exit code of a failed command when a process that it left running ${what}`, async (t) => {
    const { file, pid } = backgroundProcess(t);
    holdTime(t);
    const script = `echo ${KEY}; (${background}) & echo $! > ${file}; echo locked >&2; exit 3`;
    await assert.rejects(run(script), {
      name: "KeyFailure",
      message: "the key command failed with exit code 3",
      detail: "sh: locked",
    });
    process.kill(pid(), 0);
  });
}

test(
  "waits for the key where a process prints it that the command has left running",
  { skip: notLinux },
  async (t) => {
    const [pipe, started] = [makePipe(t), makePipe(t)];
    const { file } = backgroundProcess(t);
    const key = run(`(cat ${pipe}; exec sleep 600) & echo $! > ${file}; echo $$ > ${started}`);
    const command = await open(started);
    await waitForExit(Number(await command.readFile("utf8")));
    await command.close();
    writeFileSync(pipe, `${KEY}\n`);
    assert.equal(await key, KEY);
  },
);

test("a command that has printed nothing gives nothing at the time limit, and what it left running is not killed", async (t) => {
  const { file, pid } = backgroundProcess(t);
  assert.equal(await run(`sleep 600 & echo $! > ${file}`), "");
  process.kill(pid(), 0);
});

test("leaves no pipe open to a process that a command has left running", { skip: notLinux }, async (t) => {
  const before = openPipes();
  for (let i = 0; i < 5; i += 1) {
    const { file } = backgroundProcess(t);
    assert.equal(await run(`echo ${KEY}; sleep 600 & echo $! > ${file}`), KEY);
  }
  await waitUntil("the pipes to be closed", () => openPipes() === before || null);
});

/** Counts this process's sockets and pipes. */
function openPipes(): number {
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return /^(?:socket|pipe):/.test(readlinkSync(`/proc/self/fd/${fd}`));
    } catch {
      // This was the descriptor of the list.
      return false;
    }
  }).length;
}

test(
  "gives all that the command printed when Node learns of its exit first",
  { skip: notLinux },
  async (t) => {
    const [pipe, ids] = [makePipe(t), makePipe(t)];
    const key = run(`printf sk-; echo $$ > ${ids}; read line < ${pipe}; printf rest`);
    const file = await open(ids);
    const command = Number(await file.readFile("utf8"));
    await file.close();
    const other = spawn("cat", { stdio: ["pipe", "ignore", "inherit"] });
    const done = withResolvers<void>();
    // Both callbacks are called where Node handles its events. By the second one it has two events: this one and the other
    // process's exit, with which it takes note of every exit up to then, before it reads from any pipe again.
    stat("/", () => {
      stat("/", () => {
        writeFileSync(pipe, "\n");
        spinUntilExit(command);
        done.resolve();
      });
      process.kill(other.pid ?? 0, "SIGKILL");
      spinUntilExit(other.pid ?? 0);
    });
    await done.promise;
    assert.equal(await key, "sk-rest");
  },
);

/** Blocks this thread until the process has exited and waits for its parent, which is this process, to notice. */
function spinUntilExit(pid: number): void {
  while (!/^\d+ \(.*\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8")));
}
