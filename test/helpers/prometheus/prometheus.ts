import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { isInstalled } from "../../run/debian-packages.ts";
import { waitUntil } from "../async/wait-until.ts";
import { freePort } from "../process/free-port.ts";
import { scratchDirectory } from "../process/scratch-directory.ts";

/** The reason why there is no Prometheus here, for `test(..., { skip })`; false when there is one. */
export const noPrometheus: string | false =
  isInstalled("prometheus") && isInstalled("promtool")
    ? false
    : "not installed: prometheus, promtool (apt-get install prometheus)";

/** One series of an instant query. */
export interface QueriedSample {
  labels: Readonly<Record<string, string>>;
  value: number;
}

/** A real Prometheus with a configuration and data of its own. */
export interface Prometheus {
  url: string;
  /** Evaluates an expression now. Rejects with Prometheus' message when it is not valid. */
  query(expression: string): Promise<QueriedSample[]>;
  /** Evaluates an expression that has one value; null while it has none. */
  value(expression: string): Promise<number | null>;
  /** Ends it with SIGKILL, and starts it again with the same data and port. */
  killAndRestart(): Promise<void>;
}

/** What is scraped, and how. */
interface PrometheusOptions {
  /** `HOST:PORT` of each target, and the labels that Prometheus gives its series. */
  targets: readonly { target: string; labels?: Record<string, string> }[];
  interval?: string;
  metricsPath?: string;
  ruleFiles?: readonly string[];
}

/** Starts a Prometheus that scrapes a daemon. It ends with the test. */
export async function startPrometheus(t: TestContext, options: PrometheusOptions): Promise<Prometheus> {
  const directory = scratchDirectory(t);
  const file = join(directory, "prometheus.yml");
  writeFileSync(file, JSON.stringify(configOf(options)));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let running = await run(directory, file, port);
  t.after(() => end(running));
  const query = async (expression: string): Promise<QueriedSample[]> => {
    const response = await fetch(`${url}/api/v1/query`, {
      method: "POST",
      body: new URLSearchParams({ query: expression }),
    });
    const answer = (await response.json()) as QueryAnswer;
    if (answer.status !== "success") throw new Error(`${expression}: ${answer.error}`);
    const { result } = answer.data;
    if (!Array.isArray(result) || typeof result[0] !== "object") return [];
    return result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }));
  };
  return {
    url,
    query,
    value: async (expression) => (await query(expression))[0]?.value ?? null,
    async killAndRestart() {
      await end(running);
      running = await run(directory, file, port);
    },
  };
}

interface QueryAnswer {
  status: string;
  error?: string;
  data: { result: { metric: Record<string, string>; value: [number, string] }[] };
}

/** JSON is YAML. */
function configOf({ targets, interval = "200ms", metricsPath, ruleFiles = [] }: PrometheusOptions): object {
  return {
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
    rule_files: ruleFiles,
    scrape_configs: [
      {
        job_name: "tollkeeper",
        metrics_path: metricsPath ?? "/_tollkeeper/metrics",
        static_configs: targets.map(({ target, labels = {} }) => ({ targets: [target], labels })),
      },
    ],
  };
}

async function run(directory: string, file: string, port: number): Promise<ChildProcess> {
  const child = spawn(
    "prometheus",
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(directory, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=error",
    ],
    { stdio: ["ignore", "ignore", "pipe"], cwd: directory },
  );
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (errors += text));
  await waitUntil("Prometheus is ready", async () => {
    if (child.exitCode !== null) throw new Error(`Prometheus ended: ${errors}`);
    return fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ ok }) => (ok ? true : null),
      () => null,
    );
  });
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** Runs promtool with text on its standard input. Resolves to what it prints, and rejects with it where it finds a fault. */
export async function promtool(args: readonly string[], input = ""): Promise<string> {
  const running = promisify(execFile)("promtool", args);
  // It may end without reading any.
  running.child.stdin?.on("error", () => {}).end(input);
  const { stdout, stderr } = await running;
  return stdout + stderr;
}
