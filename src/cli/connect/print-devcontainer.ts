import { basename, dirname, join } from "node:path";
import { stateDirectory } from "../../adapters/paths.ts";
import { packageDirectory } from "../../adapters/program.ts";
import { DEFAULT_PORT } from "../../core/config/own-address.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { note, printStyled } from "../terminal/console.ts";
import { resolveEndpoint } from "./local-endpoint.ts";
import type { LocalDaemon } from "./locate-daemon.ts";
import { selectToolByName } from "./select-tool.ts";

/** The word that `connect` takes in place of a tool. */
export const DEVCONTAINER = "devcontainer";

/** Where the container sees the socket's directory and this program. `doctor` looks for the first. */
const [SOCKETS, PROGRAM] = ["/run/tollkeeper", "/opt/tollkeeper"];

/** The tools that follow variables, in order: Claude Code would complain about a second credential, which the libraries need. */
const TOOLS: [tool: string, variables: RegExp][] = [
  ["claude-code", /^/],
  ["sdk", /^OPENAI_/],
];

/**
 * Prints what to paste into devcontainer.json, as JSON on standard output; what else to do goes to standard error. The program itself is
 * mounted, so that the container needs Node alone and always has the version of the host. Mounts are read-only: a container can connect
 * to a socket on such a mount, and cannot exchange it.
 */
export async function printDevcontainer(daemon: LocalDaemon): Promise<void> {
  const configured = daemon.config.listen.socket;
  const socket = configured ?? join(stateDirectory(), "remote", "tollkeeper.sock");
  const main = `${PROGRAM}/dist/main.js`;
  const bridge = formatCommand(["node", main, "bridge", "--socket", `${SOCKETS}/${basename(socket)}`]);
  const document = {
    mounts: [mount(dirname(socket), SOCKETS), mount(packageDirectory(), PROGRAM)],
    containerEnv: await variables(daemon),
    postStartCommand: `nohup ${bridge} > /tmp/tollkeeper-bridge.log 2>&1 &`,
  };
  printStyled(JSON.stringify(document, null, 2));
  if (configured === null)
    note(
      `note: the daemon has no socket yet; type: ${formatCommand(["tollkeeper", "config", "set", "listen.socket", socket])}`,
    );
  if (daemon.config.access.mode === "token")
    for (const [tool] of TOOLS)
      note(
        `note: before the container is built, set ${tokenVariable(tool)} on this machine to what this prints: tollkeeper token add ${tool}`,
      );
  note(
    `note: for a tool that follows a settings file, such as Codex, type in the container: node ${main} connect codex`,
  );
}

async function variables(daemon: LocalDaemon): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [name, wanted] of TOOLS) {
    const selected = selectToolByName(name);
    const token = daemon.config.access.mode === "token" ? `\${localEnv:${tokenVariable(name)}}` : null;
    const endpoint = await resolveEndpoint(selected, { ...daemon, port: DEFAULT_PORT }, token, undefined);
    const { variables: all = {} } = selected.tool.environment(HOST, endpoint) ?? {};
    for (const [variable, value] of Object.entries(all)) if (wanted.test(variable)) found[variable] ??= value;
  }
  return found;
}

/** Variables do not depend on it. */
const HOST = {
  platform: "linux" as const,
  env: {},
  home: "/",
  directory: "/",
  exists: () => false,
  list: () => [],
};

function mount(source: string, target: string): string {
  return `type=bind,source=${source},target=${target},readonly`;
}

/** devcontainer.json may be shared, so a token is never written into it. */
function tokenVariable(tool: string): string {
  return `TOLLKEEPER_TOKEN_${tool.toUpperCase().replaceAll("-", "_")}`;
}
