import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readLedger } from "../../../src/adapters/ledger-file/reader.ts";
import { launchDaemon } from "../../helpers/daemon/daemon.ts";
import { USAGE } from "../answers.ts";
import { PLAIN, type Target } from "./target.ts";

const MANIFEST = new URL("../../../package.json", import.meta.url);

/** tollkeeper as its users run it: the built program, default settings, ledger on; a key from a file. */
export const tollkeeper: Target = {
  ...PLAIN,
  name: "tollkeeper",
  findVersion: () => (JSON.parse(readFileSync(MANIFEST, "utf8")) as { version: string }).version,
  launch({ port, upstreamPort, directory, launcher }) {
    const config = configure(directory, `http://127.0.0.1:${upstreamPort}/v1`);
    const { pid, ready, kill } = launchDaemon(directory, { config, port, launcher });
    // Who waits for its first answer notices that it never comes.
    ready.catch(() => {});
    return {
      pid,
      stop: kill,
      async audit(requests) {
        const { ledger } = await (await ready).status();
        return auditLedger(ledger.directory, requests);
      },
    };
  },
};

/** A configuration with nothing but the upstream, whose key is put into a file in `directory`. */
export function configure(directory: string, baseUrl: string): object {
  const file = join(directory, "key");
  writeFileSync(file, "key-of-the-bench\n", { mode: 0o600 });
  return { upstreams: { default: { baseUrl, keySource: { file } } } };
}

/** There must be one record for each request, and it must say what the upstream said. */
export async function auditLedger(directory: string, requests: number): Promise<string[]> {
  let records = 0;
  let wrong = 0;
  for await (const entry of readLedger(directory, { from: "" })) {
    records += 1;
    const isRight =
      !("unreadable" in entry) &&
      entry.outcome === "completed" &&
      entry.usage === "final" &&
      entry.tokens?.input_total === USAGE.input &&
      entry.tokens.output === USAGE.output;
    if (!isRight) wrong += 1;
  }
  const faults: string[] = [];
  if (records !== requests) faults.push(`${records} records of ${requests} requests`);
  if (wrong > 0) faults.push(`${wrong} records do not say what the upstream said`);
  return faults;
}
