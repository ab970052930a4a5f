// Opens the ledger in the directory that is named on the command line when told to, and stays until it is killed. Prints its
// identity first, then "open" after the start. Run by recovered-notes.test.ts as a program of its own.
import { once } from "node:events";
import { openLedger } from "../../../src/adapters/ledger-file.ts";
import { identifyProcess } from "../../../src/adapters/ledger-file/process-identity.ts";
import { MemoryLog, realClock } from "../../helpers/gate/memory.ts";

console.log(identifyProcess());
await once(process.stdin, "data");
openLedger({
  directory: process.argv[2] ?? "",
  retainDays: 400,
  clock: realClock,
  log: new MemoryLog(),
  onNewDay() {},
});
console.log("open");
setInterval(() => {}, 60_000);
