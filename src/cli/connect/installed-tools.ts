import { connectionsDirectory } from "../../adapters/paths.ts";
import { pathsMade } from "../../connect/connection.ts";
import { isInstalled } from "../../connect/installed.ts";
import { CONNECTABLE_TOOLS } from "../../tools/all.ts";
import type { ConnectableTool, Scope } from "../../tools/tool.ts";
import { readToolHost } from "./local-endpoint.ts";

/** Returns the tools on this machine that have settings of this scope. */
export function findInstalledTools(scope: Scope): ConnectableTool[] {
  const host = readToolHost();
  const made = pathsMade(connectionsDirectory());
  return CONNECTABLE_TOOLS.filter((tool) => tool.scopes.includes(scope) && isInstalled(tool, host, made));
}

/** True for a tool that is on this machine, and for one that is no program, such as the SDKs. */
export function isToolInstalled(tool: ConnectableTool): boolean {
  return tool.programs.length === 0 || isInstalled(tool, readToolHost(), pathsMade(connectionsDirectory()));
}
