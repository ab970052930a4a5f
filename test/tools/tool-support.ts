import assert from "node:assert/strict";
import { applySettings } from "../../src/connect/edit/apply-settings.ts";
import { HeaderIndex } from "../../src/core/http/header-index.ts";
import { nameProcess } from "../../src/core/identity/process-name.ts";
import { identifyTool } from "../../src/core/identity/tool-identity.ts";
import { CONNECTABLE_TOOLS, PROCESS_SIGNATURES, REQUEST_SIGNATURES } from "../../src/tools/all.ts";
import type { ConnectableTool, LocalEndpoint, ToolHost } from "../../src/tools/tool.ts";
import { parseProgram } from "../helpers/tools/parse-program.ts";

/** A machine with a home, a shell and a project. */
export const HOST: ToolHost = {
  home: "/home/ada",
  env: { SHELL: "/bin/bash" },
  platform: "linux",
  directory: "/home/ada/project",
  exists: () => false,
};

export const TOKEN = "tk-of-this-test";

/** The endpoint that each tool is pointed at in these tests. */
export function endpointFor(name: string, changes: Partial<LocalEndpoint> = {}): LocalEndpoint {
  const baseUrl = `http://127.0.0.1:8655/t/${name}`;
  return { baseUrl, credential: `tk-${name}`, isToken: false, model: "claude-sonnet-5", ...changes };
}

export function findTool(name: string): ConnectableTool {
  return CONNECTABLE_TOOLS.find((tool) => tool.name === name) ?? assert.fail(`no tool ${name}`);
}

/** The tool's plans, one for each of its scopes. */
export function plansFor(tool: ConnectableTool, changes: Partial<LocalEndpoint> = {}, host = HOST) {
  return tool.scopes.map((scope) => tool.plan(host, endpointFor(tool.name, changes), scope));
}

/** The texts of the tool's files in scope `user`, where none existed, by path; `~` for the home directory. */
export function writtenFiles(
  name: string,
  changes: Partial<LocalEndpoint> = {},
  host = HOST,
): Record<string, string> {
  const { files } = findTool(name).plan(host, endpointFor(name, changes), "user");
  return Object.fromEntries(
    files.map((file) => [file.path.replace(`${host.home}/`, "~/"), applySettings(null, file, name).text]),
  );
}

/** As {@link writtenFiles}, for one JSON file, parsed. */
export function writtenObject(name: string, path: string, changes: Partial<LocalEndpoint> = {}): unknown {
  return JSON.parse(writtenFiles(name, changes)[path] ?? assert.fail(`${name} does not write ${path}`));
}

/** The path of the tool's first file when these environment variables are set. */
export function firstFile(name: string, env: NodeJS.ProcessEnv): string | undefined {
  return Object.keys(writtenFiles(name, {}, { ...HOST, env }))[0];
}

/** What points a run of the tool at tollkeeper. */
export function environmentOf(name: string, changes: Partial<LocalEndpoint> = {}) {
  return findTool(name).environment(HOST, endpointFor(name, changes));
}

/** The tool that a process typed in a terminal is attributed to; the program as {@link parseProgram} takes it. */
export function toolOfProcess(program: string): string | undefined {
  const chain = ["systemd", "/usr/libexec/gnome-terminal-server", "/usr/bin/zsh", program];
  return nameProcess(chain.map(parseProgram).toReversed(), PROCESS_SIGNATURES)?.tool;
}

/** The tool that a request with these headers is attributed to, and the evidence for it. */
export function toolOfRequest(headers: Record<string, string>): string {
  const index = new HeaderIndex(Object.entries(headers).flat());
  const { tool, by } = identifyTool(null, index, REQUEST_SIGNATURES);
  return `${tool} by ${by}`;
}
