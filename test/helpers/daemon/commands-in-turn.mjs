// Runs commands of the compiled program one after another, for command-line-in-turn.ts. Each one evaluates the program's main module anew.
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const program = process.argv[2];
const start = realpathSync(program);
const [, main] = /import\("(\.\/chunks\/main-[^"]+)"\)/.exec(readFileSync(start, "utf8"));
const url = pathToFileURL(join(dirname(start), main)).href;

let output = { stdout: "", stderr: "" };
for (const name of ["stdout", "stderr"])
  process[name].write = (chunk) => {
    output[name] += chunk;
    return true;
  };

/** 0 unless the command has set another one. */
const exitCode = () => process.exitCode ?? 0;

let count = 0;
async function run(args) {
  output = { stdout: "", stderr: "" };
  process.argv = [process.execPath, program, ...args];
  process.exitCode = undefined;
  await import(`${url}?${(count += 1)}`);
  for (const name of ["stdout", "stderr"]) process[name].removeAllListeners("error");
  return { code: exitCode(), ...output };
}

process.on("message", (args) => void run(args).then((result) => process.send(result)));
process.on("disconnect", () => process.exit(0));
