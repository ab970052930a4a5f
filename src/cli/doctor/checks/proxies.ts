import { failure, ok, warning, type Check, type Finding } from "../../../check/check.ts";
import { printLine } from "../../../connect/formats/shell.ts";
import { findAssignments, isCommentLine } from "../../../core/text/assignments.ts";
import { formatCommand } from "../../../core/text/shell-words.ts";
import {
  BYPASS_VARIABLES,
  bypassesLoopback,
  bypassVariables,
  LOOPBACK_HOSTS,
} from "../../../tools/recipe/loopback-bypass.ts";
import { detectShell, formatEnvironment } from "../../connect/environment.ts";
import type { Dotfile } from "../../dotfiles/read.ts";
import { displayLocation, displayPath } from "../../terminal/format.ts";
import type { Evidence } from "../evidence.ts";

/** Through such a proxy goes what is sent to tollkeeper, unless NO_PROXY lists this machine. */
const FOR_HTTP = /^(?:http|all)_proxy$|^http\.proxy$/i;

/** For https, and in some tools, such as Claude Code, for every request. */
const FOR_HTTPS = /^https_proxy$/i;

const CONSEQUENCE =
  "and 127.0.0.1 is not excepted: what tools send to tollkeeper, prompts too, goes to the proxy and leaves no record";

/** Checks that no proxy is between tools and tollkeeper: in the environment, in files of shells and tools, and in the service manager. */
export const proxiesCheck: Check<Evidence> = {
  id: "proxies",
  title: "proxies",
  async run(evidence) {
    const { env, home } = evidence;
    const files = await evidence.dotfiles();
    const { managerName, variables } = await evidence.service();
    const shells = files.filter(({ kind }) => kind === "shell");
    const isExcepted = shells.some(({ text }) => exceptsLoopback(text));
    const findings = [
      ...inVariables(env, "the environment", () => exportCommand(env)),
      ...inVariables(variables, `the environment of ${managerName}`, () =>
        setCommand(managerName, variables),
      ),
      ...(isExcepted ? [] : shells.flatMap((file) => inFile(file, home, env))),
      ...files
        .filter(({ kind, text }) => kind === "tool" && !exceptsLoopback(text))
        .flatMap((file) => inFile(file, home, env)),
    ];
    return findings.length > 0 ? findings : [ok("no proxy between tools and tollkeeper")];
  },
};

type Variables = Readonly<Record<string, string | undefined>>;

function inVariables(env: Variables, where: string, fix: () => string): Finding[] {
  if (bypassesLoopback(env)) return [];
  const set = Object.keys(env).filter((name) => (env[name] ?? "") !== "");
  const name = set.find((one) => FOR_HTTP.test(one)) ?? set.find((one) => FOR_HTTPS.test(one));
  return name === undefined ? [] : [findingOf(displayLocation(where, name), name, fix())];
}

/** The first line of each file is enough: what is added for it holds for all. */
function inFile({ kind, path, text }: Dotfile, home: string, env: NodeJS.ProcessEnv): Finding[] {
  const lines = text.split("\n").flatMap((line, index) => {
    if (isCommentLine(line)) return [];
    return findAssignments(line)
      .filter(({ name, value }) => value !== "" && (FOR_HTTP.test(name) || FOR_HTTPS.test(name)))
      .map(({ name }) => ({ name, line: index + 1 }));
  });
  const found = lines.find(({ name }) => FOR_HTTP.test(name)) ?? lines[0];
  if (found === undefined) return [];
  const shown = displayPath(path, home);
  const where = displayLocation(`${shown}:${found.line}`, found.name);
  const fix = kind === "tool" ? addSetting(found.name, `${shown}:${found.line}`) : appendCommand(path, env);
  return [findingOf(where, found.name, fix)];
}

function findingOf(where: string, name: string, fix: string): Finding {
  const what = `${where} sets a proxy, ${CONSEQUENCE}`;
  return FOR_HTTP.test(name) ? failure(what, fix) : warning(`${what}; some tools use it for http, too`, fix);
}

/** In files of every language: a list of exceptions that names this machine, or everything. */
function exceptsLoopback(text: string): boolean {
  return text
    .split("\n")
    .some(
      (line) =>
        !isCommentLine(line) && /no_?proxy/i.test(line) && /127\.0\.0\.1|["'=\s]\*["'\s]*$/.test(line),
    );
}

function exportCommand(env: NodeJS.ProcessEnv): string {
  return formatEnvironment(detectShell(env) ?? "sh", bypassVariables(env), []).join("; ");
}

function setCommand(manager: string, env: Variables): string {
  const pairs = Object.entries(bypassVariables(env));
  if (manager === "launchd")
    return pairs.map(([name, value]) => formatCommand(["launchctl", "setenv", name, value])).join("; ");
  const words = pairs.map(([name, value]) => `${name}=${value}`);
  return formatCommand(["systemctl", "--user", "set-environment", ...words]);
}

/** `environment.d` and `.env` hold assignments, and no commands (environment.d(5)). */
function appendCommand(path: string, env: NodeJS.ProcessEnv): string {
  const variables = bypassVariables(env);
  const isPlain = /\.conf$|\/\.env$|\/\.pam_environment$/.test(path);
  const isCsh = /csh/.test(path);
  const lines = isPlain
    ? Object.entries(variables).map(([name, value]) => `${name}=${value}`)
    : isCsh
      ? Object.entries(variables).map(([name, value]) => `setenv ${name} ${value}`)
      : BYPASS_VARIABLES.map((name) =>
          // The file, or one that is read before it, may list hosts that this environment does not show.
          printLine(/\/fish\//.test(path) ? "fish" : "sh", name, LOOPBACK_HOSTS),
        );
  return `${formatCommand(["printf", String.raw`%s\n`, ...lines])} >> ${formatCommand([path])}`;
}

function addSetting(name: string, where: string): string {
  if (name === "http.proxy")
    return `beside it, in ${where}, add: "http.noProxy": ${JSON.stringify(LOOPBACK_HOSTS.split(","))}`;
  return `beside it, in ${where}, add: "NO_PROXY": "${LOOPBACK_HOSTS}"`;
}
