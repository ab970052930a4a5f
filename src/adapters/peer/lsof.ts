import type { Endpoint } from "./table-row.ts";

/**
 * Arguments that make lsof list who has connections with this port, one field a line: process (p) and name (n). Other
 * commands and names of hosts and ports are left alone (-n, -P).
 */
export function argumentsForPort({ address, port }: Endpoint): string[] {
  return ["-nP", `-iTCP@${host(address)}:${port}`, "-sTCP:ESTABLISHED", "-Fpn"];
}

/** Arguments that make it list the directory in which a process works. */
export function argumentsForDirectory(pid: number): string[] {
  return ["-a", `-p${pid}`, "-dcwd", "-Fpn"];
}

/** The process that holds the client's end; ours holds the other, with the addresses the other way round. */
export function findClient(output: string, client: Endpoint, server: Endpoint): number | null {
  const wanted = `${host(client.address)}:${client.port}->${host(server.address)}:${server.port}`;
  return filesIn(output).find(({ name }) => name === wanted)?.pid ?? null;
}

/** The directory in which the process works. */
export function findDirectory(output: string): string | null {
  return filesIn(output)[0]?.name ?? null;
}

/** `p4711`, then of each of its files `f23` and `n127.0.0.1:54321->127.0.0.1:8655` (lsof(8), "Output for other programs"). */
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
