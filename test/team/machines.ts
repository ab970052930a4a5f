// A child of run.ts, which kills it: so many machines, each with its ledger and what counts it for metrics, behind one port. Their requests
// are appended while it runs; `/append/MACHINE/COUNT` does that.
import { createServer } from "node:http";
import { join } from "node:path";
import { openLedger } from "../../src/adapters/ledger-file.ts";
import { chooseFormat, CONTENT_TYPES } from "../../src/core/metrics/prometheus-text.ts";
import { LedgerMetrics } from "../../src/daemon/metrics/ledger-metrics.ts";
import { writeText } from "../../src/daemon/metrics/write-text.ts";
import { MemoryLog, realClock } from "../helpers/gate/memory.ts";
import { makeRecord, PRICES, randomNumbers } from "./made-records.ts";

const [root = "", count = "0", port = "0", generation = "0"] = process.argv.slice(2);
const [clock, log] = [realClock, new MemoryLog()];

const machines = await Promise.all(
  Array.from({ length: Number(count) }, async (_, at) => {
    const directory = join(root, `machine-${at}`, "ledger");
    const ledger = openLedger({ directory, retainDays: 400, clock, log, onNewDay: () => {} });
    const path = join(root, `machine-${at}`, "metrics.json");
    const metrics = await LedgerMetrics.open({ path, clock, log }, directory, PRICES);
    return { ledger, metrics, random: randomNumbers(Number(generation) * 1_000 + at), appended: 0 };
  }),
);

const server = createServer((req, res) => {
  const [, what, name = "", much = "0"] = (req.url ?? "").split("/");
  const machine = machines[Number(name)];
  if (machine === undefined) {
    res.writeHead(404).end();
    return;
  }
  if (what === "append") {
    for (let left = Number(much); left > 0; left -= 1) {
      const id = `${name}-${generation}-${(machine.appended += 1)}`;
      machine.ledger.append([makeRecord(machine.random, id, new Date().toISOString())]);
    }
    res.end();
    return;
  }
  const format = chooseFormat(req.headers.accept);
  const answer = async () => {
    await machine.metrics.count();
    return writeText(machine.metrics.describe(), format);
  };
  answer().then(
    (text) => res.writeHead(200, { "content-type": CONTENT_TYPES[format] }).end(text),
    (error: unknown) => res.writeHead(500).end(String(error)),
  );
});
server.listen(Number(port), "127.0.0.1", () => console.log("ready"));
