import { writeFileSync } from "node:fs";
import { programVersion } from "../../../adapters/program.ts";
import { fixOf } from "../../../adapters/system-fix.ts";
import { toHar } from "../../../core/capture/har.ts";
import { Failure, hasCode, messageOf } from "../../../core/failure.ts";
import { formatCommand } from "../../../core/text/shell-words.ts";
import { note, print } from "../../terminal/console.ts";
import { pluralize } from "../../terminal/format.ts";
import { askCaptures, readCaptured } from "./ask.ts";

/** Writes captured requests to an HTTP archive that only the user can read: one of them, or with undefined all. @throws Failure */
export async function exportHar(file: string, id: string | undefined): Promise<void> {
  const ids = id === undefined ? (await askCaptures("captures")).requests.map((one) => one.id) : [id];
  if (ids.length === 0)
    throw new Failure("no request is captured", "to see the captures, type: tollkeeper capture list");
  const exchanges = [];
  for (const one of ids) exchanges.push(await readCaptured(one));
  write(file, `${JSON.stringify(toHar(exchanges, programVersion()), null, 2)}\n`);
  print(`Written to ${file}: ${pluralize(exchanges.length, "request")}.`);
  note("It is not encrypted, and is not deleted by itself: whoever can read the file can read the prompts.");
}

/** Replaces nothing. */
function write(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (hasCode(error, "EEXIST"))
      throw new Failure(
        `there is a file ${file} already`,
        `name another one, or remove it with: ${formatCommand(["rm", file])}`,
      );
    throw new Failure(`cannot write ${file}: ${messageOf(error)}`, fixOf(error));
  }
}
