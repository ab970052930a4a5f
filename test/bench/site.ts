import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Cleanup } from "./cleanup.ts";
import { LoadClient } from "./load-client.ts";
import { placeProcesses, type Placement } from "./placement.ts";
import { Worker } from "./worker.ts";

/** What every measurement needs: an upstream, a load client, and the placement of targets. */
export interface Site {
  upstream: { pid: number; port: number };
  client: LoadClient;
  placement: Placement;
  /** Scratch directory of the run. */
  directory: string;
  cleanup: Cleanup;
}

/** Starts upstream and client, which `cleanup` ends. */
export async function openSite(cleanup: Cleanup): Promise<Site> {
  const placement = placeProcesses();
  const directory = mkdtempSync(join(tmpdir(), "tollkeeper-bench-"));
  cleanup.after(() => rmSync(directory, { recursive: true, force: true }));
  const upstream = new Worker("upstream.ts");
  cleanup.after(() => upstream.stop());
  const client = new LoadClient();
  cleanup.after(() => client.stop());
  const [port] = await Promise.all([upstream.next(), client.start()]);
  return {
    upstream: { pid: upstream.pid, port: port as number },
    client,
    placement,
    directory,
    cleanup,
  };
}
