import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readLedger } from "../../../src/adapters/ledger-file.ts";
import { launchDaemon } from "../../helpers/daemon/daemon.ts";
import { WITH_DIAGNOSTICS } from "../../helpers/process/diagnostics-socket.ts";
import { openPages } from "../pages.ts";
import { USAGE } from "../responses.ts";
import { NO_REQUIREMENTS, type Target } from "./target.ts";

const MANIFEST = new URL("../../../package.json", import.meta.url);

/** tollkeeper as its users run it: the built program with default settings and ledger, and a key from a file. */
export const tollkeeper = targetWith("tollkeeper", configure);

/** The same with three upstreams, of which the model in the body chooses the last. */
export const tollkeeperByModel = targetWith("tollkeeper-by-model", (directory, baseUrl) => {
  const upstream = { baseUrl, keySource: writeKey(directory) };
  return {
    upstreams: {
      local: { ...upstream, models: ["qwen*", "llama*"] },
      openai: { ...upstream, models: ["gpt-*"] },
      bench: { ...upstream, models: ["bench-*"] },
    },
  };
});

/** The same with one upstream, for a tool whose group allows the model by the last of three patterns. */
export const tollkeeperInGroup = targetWith("tollkeeper-in-group", (directory, baseUrl) => ({
  ...configure(directory, baseUrl),
  tools: { "*": { group: "bench" } },
  groups: { bench: { models: ["qwen*", "gpt-*", "bench-*"] } },
}));

/** The same with models, budgets and a brake, which are never reached. Without `same`: all requests of the bench are the same. */
export const tollkeeperWithPolicy = targetWith("tollkeeper-with-policy", (directory, baseUrl) => ({
  ...configure(directory, baseUrl),
  budgets: [{ usd: 1_000_000, per: "month" }],
  tools: { "*": { group: "bench" } },
  groups: {
    bench: {
      models: ["qwen*", "gpt-*", "bench-*"],
      budgets: [{ tokens: 1_000_000_000_000, per: "day" }],
      brake: { requestsPerMinute: 100_000, concurrent: 10_000 },
    },
  },
}));

/** The same while three dashboards are open, and somebody clicks in each of them. */
export const tollkeeperWithPages = targetWith("tollkeeper-with-pages", configure, { pages: 3 });

/** The same as systemd starts it: with a socket for questions to the kernel. */
export const tollkeeperAsService = targetWith("tollkeeper-as-service", configure, {
  command: WITH_DIAGNOSTICS,
});

/** The program of another build: its `main.js`. */
export function tollkeeperOf(name: string, program: string): Target {
  return targetWith(name, configure, { program });
}

/** `command`: execs the command appended to it. */
interface Variant {
  pages?: number;
  command?: readonly string[];
  program?: string;
}

function targetWith(
  name: string,
  configureWith: typeof configure,
  { pages = 0, command = [], program }: Variant = {},
): Target {
  return {
    ...NO_REQUIREMENTS,
    name,
    findVersion: () => (JSON.parse(readFileSync(MANIFEST, "utf8")) as { version: string }).version,
    launch({ port, upstreamPort, directory, launcher }) {
      const config = configureWith(directory, `http://127.0.0.1:${upstreamPort}/v1`);
      const { pid, ready, kill } = launchDaemon(directory, {
        config,
        port,
        launcher: [...launcher, ...command],
        ...(program !== undefined && { program }),
      });
      const opened = ready.then(() => openPages(`http://127.0.0.1:${port}`, pages));
      // A failed start shows as a missing first response.
      opened.catch(() => {});
      return {
        pid,
        async stop() {
          await (await opened.catch(() => null))?.close();
          await kill();
        },
        commands: ready,
        async audit(requests) {
          const { ledger } = await (await ready).status();
          return auditLedger(ledger.directory, requests);
        },
      };
    },
  };
}

/** Makes a configuration with only the upstream, and writes its key to a file in `directory`. */
export function configure(directory: string, baseUrl: string): object {
  return { upstreams: { default: { baseUrl, keySource: writeKey(directory) } } };
}

/** As long as a key of Anthropic: a header or an error that is shorter need not be searched for it. */
const KEY = "key-of-the-bench".padEnd(108, "-0123456789");

function writeKey(directory: string): { file: string } {
  const file = join(directory, "key");
  writeFileSync(file, `${KEY}\n`, { mode: 0o600 });
  return { file };
}

/** Checks that there is one record for each request, with the upstream's usage. */
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
  if (wrong > 0) faults.push(`${wrong} records do not match the upstream's usage`);
  return faults;
}
