import { isLastParent, type Program } from "../../core/identity/process-name.ts";
import type { PeerInfo, PeerProcess } from "../../ports.ts";
import { MOST_PARENTS, peerProcess } from "./describe-process.ts";
import { argumentsForDirectory, argumentsForPort, findClient, findDirectory } from "./lsof.ts";
import { parseProcessTable, PROCESS_TABLE_ARGUMENTS, type ListedProcess } from "./process-table.ts";
import { Projects } from "./projects.ts";
import type { Endpoint } from "./table-row.ts";
import type { Run } from "./run-quietly.ts";

const LSOF = "/usr/sbin/lsof";
const PS = "/bin/ps";

/** Each takes tens to hundreds of milliseconds; whoever comes when so many wait is not looked for. */
const MOST_WAITING = 32;

/**
 * Who connects to us on macOS, by what lsof and ps print. Neither says anything before a request must be judged, so users
 * are not told apart here. Written from the manual pages and not run on a Mac yet; what an interpreter runs is not looked
 * for, because ps does not tell one argument from the next.
 */
export function createMacPeers(run: Run): PeerInfo {
  const projects = new Projects();
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  /** One at a time. */
  function inTurn<T>(look: () => Promise<T | null>): Promise<T | null> {
    if (waiting >= MOST_WAITING) return Promise.resolve(null);
    waiting += 1;
    const done = last.then(look).finally(() => (waiting -= 1));
    last = done;
    return done;
  }

  async function find(client: Endpoint, server: Endpoint): Promise<PeerProcess | null> {
    const sockets = await run(LSOF, argumentsForPort(client));
    const pid = sockets === null ? null : findClient(sockets, client, server);
    const table = pid === null ? null : await run(PS, PROCESS_TABLE_ARGUMENTS);
    return pid === null || table === null ? null : describe(pid, parseProcessTable(table));
  }

  async function findProject(pid: number): Promise<string | null> {
    const output = await inTurn(() => run(LSOF, argumentsForDirectory(pid)));
    const directory = output === null ? null : findDirectory(output);
    return directory === null ? null : projects.around(directory);
  }

  return {
    lookUp: (client, server) =>
      Promise.resolve({
        uid: null,
        findProcess: ({ isOver }) => inTurn(async () => (isOver() ? null : find(client, server))),
        findProject,
      }),
  };
}

function describe(pid: number, table: ReadonlyMap<number, ListedProcess>): PeerProcess | null {
  const [itself, ...parents] = chainFrom(pid, table);
  return itself === undefined ? null : peerProcess(pid, [itself, ...parents]);
}

/** The process with its parents, as far as they say anything. */
function chainFrom(pid: number, table: ReadonlyMap<number, ListedProcess>): Program[] {
  const programs: Program[] = [];
  for (let next = table.get(pid); next !== undefined; next = table.get(next.parent)) {
    const program = { executable: next.executable, script: null };
    programs.push(program);
    if (isLastParent(program) || programs.length > MOST_PARENTS) break;
  }
  return programs;
}
