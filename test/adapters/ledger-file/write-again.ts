// Opens the ledger in the directory that is named on the command line, appends records to it that are written at once, and closes it: as
// often as the second argument says. Prints the ids of the records.
import { openLedger } from "../../../src/adapters/ledger-file.ts";
import { MemoryLog, realClock } from "../../helpers/gate/memory.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

const [, , directory = "", starts = "", batch = ""] = process.argv;

for (let start = 0; start < Number(starts); start += 1) {
  const ledger = openLedger({
    directory,
    retainDays: 400,
    clock: realClock,
    log: new MemoryLog(),
    onNewDay() {},
  });
  const records = Array.from({ length: Number(batch) }, (_, i) =>
    usageRecord({ id: `${process.pid}-${start}-${i}`, raw_usage: { text: "x".repeat(1000) } }),
  );
  ledger.append(records);
  ledger.close();
  console.log(records.map(({ id }) => id).join("\n"));
}
