// `npm run bench -- [--quick] [--json] [--gateways] [--only TARGET,...] [--scenario NAME,...] [--rounds N]`: compares tollkeeper with
// alternatives, on loopback only. Exits with 1 when a response or a record was wrong.
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
