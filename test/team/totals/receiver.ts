// A child of receiver-process.ts, which kills it: an OTLP receiver that keeps what it acknowledges in a file.
import { appendFileSync } from "node:fs";
import { recordsIn, startOtlpReceiver } from "../../helpers/otlp/otlp-receiver.ts";

const [file = "", port = "0", mode = ""] = process.argv.slice(2);
const receiver = await startOtlpReceiver({ after: () => {} }, { port: Number(port) });
receiver.behave(({ message }) => {
  appendFileSync(file, `${JSON.stringify(message)}\n`);
  // The worst moment: it has the records, and the sender does not learn that.
  if (mode === "dies" && recordsIn(message).length > 0) process.kill(process.pid, "SIGKILL");
  return null;
});
console.log("ready");
