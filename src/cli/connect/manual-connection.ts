import type { ConnectionId, PreparedChange } from "../../connect/connection.ts";
import { prepareRemoval } from "../../connect/connection.ts";
import { planMcpServer, type McpServerWish } from "../../connect/mcp-server.ts";
import { planStatusLine } from "../../connect/status-line.ts";
import { checkRegion } from "../../core/config/aws-region.ts";
import { ALL_REACHES, NO_REACH } from "../../core/policy/tool-reach.ts";
import { findLocalTokens } from "../../core/secrets/local-token.ts";
import { CONNECTABLE_TOOLS } from "../../tools/all.ts";
import type { ConnectableTool, ToolHost } from "../../tools/tool.ts";
import { findBaseUrls } from "../dotfiles/find-base-urls.ts";
import { readDotfiles } from "../dotfiles/read.ts";
import { connectedEndpoint, placeholderEndpoint, readToolHost, toPlanEndpoint } from "./local-endpoint.ts";

/**
 * Settings of the user that point a tool at tollkeeper without a connection: written by hand, or by the tool itself, which had read them
 * before it was disconnected and saves all that it knows.
 */
export interface ManualConnection {
  path: string;
  /** Where the base URL is, from 1. */
  line: number;
  port: number;
  /** The contents of the tool's files. */
  texts: readonly string[];
}

/** Finds such settings; null where there are none. */
export async function findManualConnection(
  tool: ConnectableTool,
  host: ToolHost,
): Promise<ManualConnection | null> {
  if (!tool.scopes.includes("user")) return null;
  const { files } = tool.plan(host, placeholderEndpoint(tool.name), "user");
  const dotfiles = await readDotfiles(files.map(({ path }) => ({ kind: "tool", path })));
  const texts = dotfiles.map(({ text }) => text);
  for (const { path, text } of dotfiles) {
    const url = findBaseUrls(text, []).find(({ mark }) => mark === `/t/${tool.name}`);
    if (url !== undefined) return { path, line: url.line, port: url.port, texts };
  }
  return null;
}

/** Finds such settings of all tools that are not among the user's connections. */
export async function findManualConnections(
  connections: readonly ConnectionId[],
): Promise<{ tool: ConnectableTool; manual: ManualConnection }[]> {
  const found: { tool: ConnectableTool; manual: ManualConnection }[] = [];
  for (const tool of CONNECTABLE_TOOLS) {
    if (connections.some((id) => id.tool === tool.name && id.scope === "user")) continue;
    const manual = await findManualConnection(tool, readToolHost());
    if (manual !== null) found.push({ tool, manual });
  }
  return found;
}

/**
 * Prepares to remove the settings among them that `connect` would write. null where some cannot be told from the user's own: a tool that
 * needs a model would be left with one that no settings explain.
 * @throws Failure when a file cannot be parsed or changed
 */
export function prepareManualRemoval(
  tool: ConnectableTool,
  host: ToolHost,
  { port, texts }: ManualConnection,
): PreparedChange | null {
  if (tool.modelApis.length > 0) return null;
  const endpoint = connectedEndpoint(tool.name, port);
  const [token] = texts.flatMap(findLocalTokens);
  const credential = token ?? endpoint.credential;
  const id = { tool: tool.name, scope: "user", directory: null } as const;
  const words = texts.flatMap((text) => [...text.matchAll(/"([^"\n]+)"/g)].map(([, word = ""]) => word));
  const smallModels = words.filter((word) => tool.smallModels?.test(word));
  const regions = tool.speaksBedrock === true ? words.filter((word) => checkRegion(word) === null) : [];
  const reaches = [...ALL_REACHES, ...regions.map((bedrockRegion) => ({ ...NO_REACH, bedrockRegion }))];
  const modes = tool.hasFirstPartyMode === true ? [false, true] : [false];
  const written = { ...endpoint, credential, isToken: token !== undefined };
  const plans = tool.savedLogin === undefined ? [] : [toPlanEndpoint(written)];
  const variants = [
    ...reaches.flatMap((reach) => [
      ...[null, ...smallModels].map((smallModel) => ({ ...written, reach, smallModel })),
      ...modes.map((isFirstParty) => ({ ...written, reach, isFirstParty })),
    ]),
    ...modes.flatMap((isFirstParty) => plans.map((plan) => ({ ...plan, isFirstParty }))),
  ];
  const changes = variants.map((variant) => {
    const planned = tool.plan(host, variant, "user");
    const { plan } = planStatusLine(tool, host, planned, { isWanted: undefined, command: "" });
    return prepareRemoval(planMcpServer(tool, host, "user", plan, NO_SERVER), id);
  });
  // The settings do not say what the upstreams and the wishes were when they were written: what leaves the least knows all of them.
  const [change] = changes.toSorted((one, other) => sizeAfter(one) - sizeAfter(other));
  if (change === undefined) return null;
  return change.isUnchanged ? null : change;
}

/** One that is there stays in the plan, and so is removed. */
const NO_SERVER = { isWanted: undefined, command: { program: [""], usual: [] } } satisfies McpServerWish;

function sizeAfter({ changes }: PreparedChange): number {
  return changes.reduce((sum, { after }) => sum + (after?.length ?? 0), 0);
}
