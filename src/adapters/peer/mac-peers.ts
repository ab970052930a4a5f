import { isLastParent, nameProcess } from "../../core/identity/process-name.ts";
import type { ProcessSignature, Program } from "../../core/identity/signatures.ts";
import type { PeerInfo, PeerProcess } from "../../ports.ts";
import { MAX_PARENTS, toProcessRecord } from "./describe-process.ts";
import { readBranch } from "./git-branch.ts";
import { argumentsForDirectory, argumentsForPort, findClient, findDirectory } from "./lsof.ts";
import { parsePsOutput, PS_ARGUMENTS, type ListedProcess } from "./ps.ts";
import { Projects } from "./projects.ts";
import type { Endpoint } from "../socket-table.ts";
import type { RunSystemTool } from "../programs/run-system-tool.ts";
import { UNKNOWN_OWNER } from "./unknown-owner.ts";

const LSOF = "/usr/sbin/lsof";
const PS = "/bin/ps";

/** How many lookups may be queued, at tens to hundreds of milliseconds each. Further ones find nothing. */
const MAX_QUEUED = 32;

/**
 * Finds clients on macOS with lsof and ps. Both are too slow for admission, so the uid is always null. An interpreter's
 * script is not determined, because ps does not separate arguments. Written from the manual pages; not tested on a Mac.
 */
export function createMacPeers(run: RunSystemTool, signatures: readonly ProcessSignature[]): PeerInfo {
  const projects = new Projects();
  let queued = 0;
  let last: Promise<unknown> = Promise.resolve();

  /** Runs one lookup at a time. */
  function enqueue<T>(look: () => Promise<T | null>): Promise<T | null> {
    if (queued >= MAX_QUEUED) return Promise.resolve(null);
    queued += 1;
    const done = last.then(look).finally(() => (queued -= 1));
    last = done;
    return done;
  }

  async function find(client: Endpoint, server: Endpoint): Promise<PeerProcess | null> {
    const sockets = await run(LSOF, argumentsForPort(client));
    const pid = sockets === null ? null : findClient(sockets, client, server);
    const table = pid === null ? null : await run(PS, PS_ARGUMENTS);
    return pid === null || table === null ? null : describe(pid, parsePsOutput(table), signatures);
  }

  async function findProject(pid: number): Promise<string | null> {
    const output = await enqueue(() => run(LSOF, argumentsForDirectory(pid)));
    const directory = output === null ? null : findDirectory(output);
    return directory === null ? null : projects.findRoot(directory);
  }

  return {
    lookUp: (client, server) =>
      Promise.resolve({
        ...UNKNOWN_OWNER,
        findProcess: ({ isOver }) => enqueue(async () => (isOver() ? null : find(client, server))),
        findProject,
        readBranch,
      }),
  };
}

/** Follows the parents up to the last one that can contribute to the name. */
function describe(
  pid: number,
  table: ReadonlyMap<number, ListedProcess>,
  signatures: readonly ProcessSignature[],
): PeerProcess | null {
  const programs: Program[] = [];
  for (let next = table.get(pid); next !== undefined; next = table.get(next.parent)) {
    const program = { executable: next.executable, script: null };
    programs.push(program);
    if (isLastParent(program, signatures) || programs.length > MAX_PARENTS) break;
  }
  const record = toProcessRecord(
    pid,
    programs.map(({ executable }) => executable),
  );
  return record === null ? null : { record, name: nameProcess(programs, signatures) };
}
