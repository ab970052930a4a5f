// Runs commands of the compiled program one after another, for run-program.ts. Each evaluates the program's main module again,
// with arguments, an environment, a working directory and an input of its own.
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";

const program = process.argv[2];
const start = realpathSync(program);
const [, main] = /import\("(\.\/chunks\/main-[^"]+)"\)/.exec(readFileSync(start, "utf8"));
const url = pathToFileURL(join(dirname(start), main)).href;

let count = 0;
async function run({ args, env, cwd, input }) {
  process.chdir(cwd);
  Object.defineProperty(process, "stdin", { value: Readable.from([Buffer.from(input)]), configurable: true });
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.execPath, program, ...args];
  process.exitCode = undefined;
  await import(`${url}?${(count += 1)}`);
  const code = process.exitCode ?? 0;
  endListeners(code);
  return code;
}

const OWN = new Map(["message", "disconnect"].map((event) => [event, 1]));

/** Does what the end of a process does for what the command listens to. */
function endListeners(code) {
  for (const event of process.eventNames()) {
    for (const listener of process.rawListeners(event).slice(OWN.get(event) ?? 0)) {
      process.removeListener(event, listener);
      if (event === "exit") listener.call(process, code);
    }
  }
  for (const name of ["stdout", "stderr"]) process[name].removeAllListeners("error");
}

process.on("message", ({ end, ...command }) => {
  void run(command).then((code) => {
    process.exitCode = 0;
    for (const name of ["stdout", "stderr"]) process[name].write(`${end}${code}\n`);
  });
});
process.on("disconnect", () => process.exit(0));
