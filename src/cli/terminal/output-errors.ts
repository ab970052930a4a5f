import { Failure } from "../../core/failure.ts";
import { hasCode, messageOf } from "../../core/thrown.ts";
import { EXIT, printFailure } from "./console.ts";

/**
 * Lets a command complete when its output cannot be written, because a change made by half would be worse than lost
 * output. A closed pipe (`| head`) is not an error; any other output error makes the program exit with 1.
 */
export function tolerateOutputErrors(): void {
  process.stderr.on("error", setExitCode);
  process.stdout.on("error", setExitCode);
  process.stdout.once("error", (error) => {
    if (!isReaderGone(error)) printFailure(cannotWrite(error));
  });
}

function setExitCode(error: unknown): void {
  if (!isReaderGone(error)) process.exitCode = EXIT.failed;
}

/** True when a pipe's reader or the terminal has closed (write(2)). */
function isReaderGone(error: unknown): boolean {
  return hasCode(error, "EPIPE") || hasCode(error, "EIO");
}

function cannotWrite(error: unknown): Failure {
  return new Failure(
    `standard output cannot be written: ${messageOf(error)}`,
    "the command went on to its end; make room, or send what it says elsewhere",
    { cause: error },
  );
}
