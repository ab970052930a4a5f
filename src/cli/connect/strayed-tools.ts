import { listeningPort } from "../../daemon/running-daemon.ts";
import type { DaemonStatus } from "../../daemon/status.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { WRITABLE_TOOL_NAMES } from "../../tools/all.ts";
import { listTools } from "./list-tools.ts";
import { readToolHost } from "./local-endpoint.ts";

/** Returns one line that points tools at tollkeeper's present port. */
export function reconnectCommand(tools: readonly string[]): string {
  const names = [...new Set(tools)];
  return names.map((tool) => formatCommand(["tollkeeper", "connect", tool, "--yes"])).join(" && ");
}

/** Returns what to say of the connected tools whose settings name another port than this one; null if there is none. */
export async function describeStrayed(port: number, status: DaemonStatus | null): Promise<string | null> {
  const tools = await listTools(readToolHost(), false);
  const strayed = tools.filter(
    ({ tool, connections }) =>
      WRITABLE_TOOL_NAMES.has(tool) &&
      connections.some((one) => one.state !== "gone" && one.port !== null && one.port !== port),
  );
  if (strayed.length === 0) return null;
  const names = strayed.map(({ title }) => title).join(", ");
  // Tools are connected to the port on which a running daemon listens.
  const isMoved = status === null || listeningPort(status) === port;
  const when = isMoved ? "" : ` once tollkeeper listens on port ${port}`;
  const command = reconnectCommand(strayed.map(({ tool }) => tool));
  return `${names} still ${strayed.length === 1 ? "uses another port. To connect it" : "use another port. To connect them"} again${when}, type:\n  ${command}`;
}
