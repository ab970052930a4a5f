import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { findCreated } from "../../../src/adapters/ledger-file.ts";
import type { Config, Upstream } from "../../../src/core/config/config.ts";
import { DaemonCreators, type FindCreated } from "../../../src/daemon/creators.ts";
import { RecordFeed } from "../../../src/daemon/record-feed.ts";
import { startLedger } from "../ledger/ledger.ts";
import { sendJson, type Script } from "../upstream/scripted-upstream.ts";
import { startGateWithUpstreams } from "./gate-with-upstreams.ts";
import type { TestGate } from "./gate.ts";
import { MemoryLog } from "./memory.ts";

/** Creates responses with ids of the upstream's own, and says which upstream answers. */
export const service =
  (name: string): Script =>
  (seen, res) =>
    sendJson(res, { id: seen.method === "POST" ? `resp_${name}` : "resp_x", object: "response", from: name });

/** Counts the searches of the ledger. */
function countingFind(): { find: FindCreated; searches: string[] } {
  const searches: string[] = [];
  return {
    searches,
    find: (directory, id, from) => {
      searches.push(id);
      return findCreated(directory, id, from);
    },
  };
}

/** A gate in front of two upstreams that write to a ledger on files. With `directory`, the one of an earlier gate. `apis` are those of each. */
export async function startWithStored(
  t: TestContext,
  scripts: Record<string, Script>,
  directory?: string,
  apis?: Upstream["apis"],
) {
  const {
    ledger: file,
    clock,
    directory: used,
  } = startLedger(t, directory === undefined ? {} : { directory });
  const feed = new RecordFeed();
  const ledger = feed.publishing(file);
  const { find, searches } = countingFind();
  const creators = new DaemonCreators({ feed, ledger, clock, log: new MemoryLog(), find });
  const named = Object.fromEntries(
    Object.entries(scripts).map(([name, script]) => [
      name,
      { script, ...(apis !== undefined && { settings: { apis } }) },
    ]),
  );
  const { gate, upstreams } = await startGateWithUpstreams(t, named, { creators, recordsTo: ledger, clock });
  return { gate, upstreams, searches, ledger, clock, directory: used };
}

export async function sendAs(gate: TestGate, method: string, path: string, tool = "codex"): Promise<unknown> {
  const body = method === "POST" ? "{}" : null;
  const headers = body === null ? {} : { "content-type": "application/json" };
  const response = await fetch(`${gate.url}/t/${tool}/v1${path}`, { method, body, headers });
  assert.equal(response.status, 200, await response.clone().text());
  return ((await response.json()) as { from: unknown }).from;
}

/** Only the second upstream may create: as if the first one had come into the configuration later. */
export const onlyTo = (name: string) => ({ codex: toolWith({ upstreams: [name] }) });

export function toolWith(changes: Partial<Config["tools"][string]>): Config["tools"][string] {
  return { key: null, group: null, upstreams: null, aliases: {}, budgets: [], brake: null, ...changes };
}
