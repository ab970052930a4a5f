import { Failure } from "../../core/failure.ts";
import { passingUpstreams, upstreamsForTool } from "../../core/policy/tool-access.ts";
import type { ConnectableTool } from "../../tools/tool.ts";
import { connectedEndpoint } from "../connect/local-endpoint.ts";
import type { LocalDaemon } from "../connect/locate-daemon.ts";

/**
 * A placeholder in place of a tool's key is of no use where only the tool's own key is taken.
 * @throws Failure, with what to do by hand, where that is so at all upstreams that the tool may use
 */
export function requireStoredKey(
  { title }: Pick<ConnectableTool, "title">,
  name: string,
  { config, port }: Pick<LocalDaemon, "config" | "port">,
): void {
  const passing = passingUpstreams(config, name);
  if (passing.length === 0 || passing.length < upstreamsForTool(config, name).length) return;
  const { baseUrl } = connectedEndpoint(name, port);
  throw new Failure(
    `${title} reaches only upstreams that take its own key: ${passing.join(", ")}; this command would put a placeholder in its place`,
    `leave its key as it is, and set its base URL by hand: ${baseUrl}`,
  );
}
