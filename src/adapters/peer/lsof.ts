import type { Endpoint } from "../socket-table.ts";

/**
 * Returns the arguments that make lsof list the processes with a connection at this port, one field per line: process (p)
 * and name (n). It does not resolve the names of hosts and ports (-n, -P).
 */
export function argumentsForPort({ address, port }: Endpoint): string[] {
  return ["-nP", `-iTCP@${host(address)}:${port}`, "-sTCP:ESTABLISHED", "-Fpn"];
}

/** Returns the arguments that make lsof list a process's working directory. */
export function argumentsForDirectory(pid: number): string[] {
  return ["-a", `-p${pid}`, "-dcwd", "-Fpn"];
}

/** Returns the pid of the client. The daemon's own end of the connection is listed with the addresses reversed. */
export function findClient(output: string, client: Endpoint, server: Endpoint): number | null {
  const wanted = `${host(client.address)}:${client.port}->${host(server.address)}:${server.port}`;
  return filesIn(output).find(({ name }) => name === wanted)?.pid ?? null;
}

/** Returns the working directory in lsof's output. */
export function findDirectory(output: string): string | null {
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
