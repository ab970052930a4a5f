import assert from "node:assert/strict";
import { relative } from "node:path";
import { applySettings } from "../../src/connect/edit/apply-settings.ts";
import { formatKeyPath } from "../../src/connect/edit/key-path.ts";
import { HeaderIndex } from "../../src/core/http/header-index.ts";
import { nameProcess } from "../../src/core/identity/process-name.ts";
import { identifyTool } from "../../src/core/identity/tool-identity.ts";
import { NO_REACH } from "../../src/core/policy/tool-reach.ts";
import { CONNECTABLE_TOOLS, PROCESS_SIGNATURES, REQUEST_SIGNATURES } from "../../src/tools/all.ts";
import type { Value } from "../../src/tools/setting.ts";
import type { ConnectableTool, LocalEndpoint, ToolHost } from "../../src/tools/tool.ts";
import { parseProgram } from "../helpers/tools/parse-program.ts";

/** A machine with a home, a shell and a project. */
export const HOST: ToolHost = {
  home: "/home/ada",
  env: { SHELL: "/bin/bash" },
  platform: "linux",
  directory: "/home/ada/project",
  exists: () => false,
  list: () => [],
};

export const TOKEN = "tk-of-this-test";

/** The endpoint that each tool is pointed at in these tests. */
export function endpointFor(name: string, changes: Partial<LocalEndpoint> = {}): LocalEndpoint {
  const baseUrl = `http://127.0.0.1:8655/t/${name}`;
  const model = "claude-sonnet-5";
  return {
    baseUrl,
    credential: `tk-${name}`,
    isToken: false,
    model,
    smallModel: null,
    isFirstParty: false,
    account: "key",
    reach: NO_REACH,
    ...changes,
  };
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

/** Settings that a tool reads: by the path of a file, where `~` is the home directory and `.` the project's. */
type SettingsByPath = Readonly<Record<string, object>>;

/** The conflicts of a tool with these settings, as `PATH (SETTING): REASON`, and the remedies of each. */
export function conflictsOf(
  name: string,
  settings: SettingsByPath,
  { env = {}, ...changes }: Partial<LocalEndpoint> & { env?: NodeJS.ProcessEnv } = {},
): Record<string, Record<string, Value> | "needs a model"> {
  const { conflicts: rules } = findTool(name);
  const files = Object.entries(settings).map(([path, top]) => [absolute(path), top] as const);
  const list = (directory: string) => files.map(([path]) => relative(directory, path));
  const host = { ...HOST, env: { ...HOST.env, ...env }, list };
  const layers = (rules?.sources(host) ?? []).flatMap((source) => {
    const top =
      source.kind === "environment" ? source.settings : files.find(([path]) => path === source.path)?.[1];
    return top === undefined ? [] : [{ source, top: top as Record<string, unknown> }];
  });
  const found = rules?.find(layers, endpointFor(name, { model: null, ...changes })) ?? [];
  return Object.fromEntries(
    found.map(({ source, path, reason, remedies, needsModel }) => {
      const place = source.kind === "environment" ? "env" : source.path.replace(HOST.directory, ".");
      const values = remedies.map(({ keyPath, value }) => [formatKeyPath(keyPath), value]);
      const resolved = needsModel ? "needs a model" : (Object.fromEntries(values) as Record<string, Value>);
      return [`${place.replace(HOST.home, "~")} (${path.join(".")}): ${reason}`, resolved];
    }),
  );
}

function absolute(path: string): string {
  return path.replace(/^~/, HOST.home).replace(/^\.\//, `${HOST.directory}/`);
}
