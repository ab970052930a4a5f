import { isLastParent, nameProcess } from "../../core/identity/process-name.ts";
import type { ProcessSignature, Program } from "../../core/identity/signatures.ts";
import type { PeerInfo, PeerProcess } from "../../ports.ts";
import type { RunSystemTool } from "../programs/run-system-tool.ts";
import type { Endpoint } from "../socket-table.ts";
import { MAX_PARENTS, toProcessRecord } from "./describe-process.ts";
import { readBranch } from "./git-branch.ts";
import { Projects } from "./projects.ts";
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

/** Makes ps list the pid, the parent's pid and the executable of every process. macOS prints the executable's full path. */
const PS_ARGUMENTS = ["-axww", "-o", "pid=,ppid=,comm="];

/** One row of ps's output. */
interface ListedProcess {
  parent: number;
  executable: string;
}

/** Parses rows such as ` 4711  4242 /usr/local/bin/node` (ps(1)) into a map by pid. A path can contain spaces. */
function parsePsOutput(output: string): Map<number, ListedProcess> {
  const processes = new Map<number, ListedProcess>();
  for (const line of output.split("\n")) {
    const [, pid, parent, executable] = /^\s*(\d+)\s+(\d+)\s+(.*\S)/.exec(line) ?? [];
    if (executable !== undefined) processes.set(Number(pid), { parent: Number(parent), executable });
  }
  return processes;
}

/**
 * Returns the arguments that make lsof list the processes with a connection at this port, one field per line: process (p)
 * and name (n). It does not resolve the names of hosts and ports (-n, -P).
 */
function argumentsForPort({ address, port }: Endpoint): string[] {
  return ["-nP", `-iTCP@${host(address)}:${port}`, "-sTCP:ESTABLISHED", "-Fpn"];
}

/** Returns the arguments that make lsof list a process's working directory. */
function argumentsForDirectory(pid: number): string[] {
  return ["-a", `-p${pid}`, "-dcwd", "-Fpn"];
}

/** Returns the pid of the client. The daemon's own end of the connection is listed with the addresses reversed. */
function findClient(output: string, client: Endpoint, server: Endpoint): number | null {
  const wanted = `${host(client.address)}:${client.port}->${host(server.address)}:${server.port}`;
  return filesIn(output).find(({ name }) => name === wanted)?.pid ?? null;
}

/** Returns the working directory in lsof's output. */
function findDirectory(output: string): string | null {
  return filesIn(output)[0]?.name ?? null;
}

/** Parses `p4711`, followed by `f23` and `n127.0.0.1:54321->127.0.0.1:8655` per file (lsof(8), "Output for other programs"). */
function filesIn(output: string): { pid: number; name: string }[] {
  const files: { pid: number; name: string }[] = [];
  let pid = 0;
  for (const line of output.split("\n")) {
    if (line.startsWith("p")) pid = Number(line.slice(1));
    else if (line.startsWith("n")) files.push({ pid, name: line.slice(1) });
  }
  return files;
}

function host(address: string): string {
  const plain = address.replace(/^::ffff:/, "");
  return plain.includes(":") ? `[${plain}]` : plain;
}
