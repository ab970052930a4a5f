import { Failure } from "../../core/failure.ts";
import { hasCode, messageOf } from "../../core/thrown.ts";
import { EXIT, printFailure } from "./console.ts";

/**
 * Keeps a command going to its end whatever becomes of its outputs: half a change would be worse than words that nobody
 * reads. A reader that has had enough, `head` say, is no fault; any other trouble makes the program exit with 1.
 */
export function outliveOutputs(): void {
  process.stderr.on("error", judge);
  process.stdout.on("error", judge);
  process.stdout.once("error", (error) => {
    if (!isReaderGone(error)) printFailure(cannotWrite(error));
  });
}

function judge(error: unknown): void {
  if (!isReaderGone(error)) process.exitCode = EXIT.failed;
}

/** A pipe's reader, or a terminal that was closed (write(2)). */
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
