// `npm run bench -- [--quick] [--json] [--gateways] [--only TARGET,...] [--scenario NAME,...] [--rounds N]`: tollkeeper beside what
// people would use instead, on loopback only. Ends with 1 when an answer or a record was not as it must be.
import { runBench } from "./bench.ts";
import { readOptions } from "./options.ts";
import { prepareTargets } from "./prepare-targets.ts";
import { renderReport } from "./report.ts";

const options = readOptions(process.argv.slice(2));
const result = await runBench({
  ...options,
  targets: prepareTargets(options.targets),
  onProgress: (what) => console.error(what),
});
console.log(options.isJson ? JSON.stringify(result, null, 2) : renderReport(result).join("\n"));
process.exitCode = result.faults.length > 0 ? 1 : 0;
