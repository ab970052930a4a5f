import { LOCAL_SERVER_PORTS } from "../../setup/services.ts";
import { isPortInUse } from "../../../adapters/port-holder.ts";
import type { Evidence } from "../evidence.ts";
import { findBaseUrls, findUrl, type FoundBaseUrl } from "../../dotfiles/find-base-urls.ts";
import { failure, ok, skipped, warning, type Check, type Finding } from "../../../check/check.ts";
import { PLAN_SEGMENT } from "../../../core/plans/names.ts";
import { listeningPort } from "../../../daemon/running-daemon.ts";
import { displayLocation, displayPath, pluralize } from "../../terminal/format.ts";
import { restartCommand } from "../fix-commands.ts";
import { reconnectCommand } from "../../connect/strayed-tools.ts";
import { WRITABLE_TOOL_NAMES } from "../../../tools/all.ts";

/** A base URL and its location, e.g. `~/.zshrc:12 (ANTHROPIC_BASE_URL)`. */
interface LocatedUrl extends Omit<FoundBaseUrl, "line"> {
  where: string;
  /** False for one in the environment. */
  isInFile: boolean;
}

/** Checks that base URLs meant for tollkeeper point at the port it listens on. */
export const baseUrlsCheck: Check<Evidence> = {
  id: "base-urls",
  title: "base URLs",
  async run(evidence) {
    const { status, failure: problem } = await evidence.daemon();
    if (problem !== null) return [skipped('not checked: see "daemon"')];
    const configured = (await evidence.config())?.listen.port ?? 0;
    const { state } = await evidence.service();
    // A port that the service manager holds open counts as a running daemon.
    const heldPort = state?.holdsPort === true ? state.port : null;
    const running = status === null ? heldPort : listeningPort(status);
    const expected = running ?? configured;
    if (expected === 0) return [skipped("not checked: no port is known")];
    const urls = await findAll(evidence, [expected, configured]);
    const ports = { running, configured, expected };
    // One cause is one finding: a daemon that does not run is that of the daemon check.
    const waiting = running === null ? urls.filter(({ port }) => port === configured) : [];
    const others = urls.filter((url) => !waiting.includes(url));
    const strayed = others.filter((url) => isStrayed(url, ports));
    const rest = others.filter((url) => !strayed.includes(url));
    const findings = [
      ...strayedFindings(strayed, ports),
      ...(await Promise.all(rest.map((url) => findProblem(url, ports, evidence)))),
    ].filter((finding) => finding !== null);
    if (findings.length > 0) return findings;
    if (waiting.length > 0)
      return [skipped(`${pluralize(waiting.length, "base URL")} not checked: the daemon does not run`)];
    const count = urls.filter(({ port }) => port === running).length;
    return [ok(`${pluralize(count, "base URL")} ${count === 1 ? "points" : "point"} at tollkeeper`)];
  },
};

async function findAll({ env, home, dotfiles }: Evidence, ports: readonly number[]): Promise<LocatedUrl[]> {
  const inEnvironment = Object.entries(env).flatMap(([name, value = ""]) =>
    findUrl(name, value, ports).map((url) => locate("the environment", url, false)),
  );
  const inFiles = (await dotfiles()).flatMap(({ path, text }) =>
    findBaseUrls(text, ports).map((url) => locate(`${displayPath(path, home)}:${url.line}`, url, true)),
  );
  return [...inEnvironment, ...inFiles];
}

function locate(where: string, url: Omit<FoundBaseUrl, "line">, isInFile: boolean): LocatedUrl {
  return { ...url, isInFile, where: displayLocation(where, url.name) };
}

interface Ports {
  /** The daemon's; null when none runs. */
  running: number | null;
  /** The configuration's; 0 for any. */
  configured: number;
  /** The one that tools should use. */
  expected: number;
}

/** True for a URL that has the mark of a tool, and a port that tollkeeper no longer has. */
function isStrayed({ port, mark }: LocatedUrl, { running, configured }: Ports): boolean {
  return mark !== null && port !== running && port !== configured;
}

/** The URLs of tools that `connect` can point here again are one finding for each former port; any other is one by itself. */
function strayedFindings(urls: readonly LocatedUrl[], { expected }: Ports): Finding[] {
  const toolOf = ({ mark }: LocatedUrl) => mark?.slice("/t/".length) ?? "";
  const isWritable = (url: LocatedUrl) => url.isInFile && WRITABLE_TOOL_NAMES.has(toolOf(url));
  const ports = [...new Set(urls.filter(isWritable).map(({ port }) => port))];
  const groups = [
    ...ports.map((port) => urls.filter((url) => isWritable(url) && url.port === port)),
    ...urls.filter((url) => !isWritable(url)).map((url) => [url]),
  ];
  return groups.map((group) => {
    const [first] = group as [LocatedUrl];
    const places = group.map(({ where }) => where).join(" and ");
    const what = `${places} ${group.length === 1 ? "points" : "point"} at port ${first.port}, but tollkeeper uses ${expected}`;
    const fix = isWritable(first)
      ? reconnectCommand(group.map(toolOf))
      : `change it to ${urlWithPort(expected, first)}`;
    return failure(what, fix);
  });
}

/** Returns null for a URL that points at the daemon or belongs to another program. */
async function findProblem(url: LocatedUrl, ports: Ports, evidence: Evidence): Promise<Finding | null> {
  const { where, port } = url;
  if (port === ports.running) return null;
  if (port === ports.configured) {
    const what = `${where} points at port ${port}, but tollkeeper still listens on ${ports.running}`;
    return failure(what, await restartCommand(evidence));
  }
  if (LOCAL_SERVER_PORTS.includes(port) || (await isPortInUse(port))) return null;
  return warning(
    `${where} points at port ${port}, where nothing listens`,
    `if it is meant for tollkeeper, change it to ${urlWithPort(ports.expected, url)}`,
  );
}

function urlWithPort(port: number, { mark, isPlan, hasVersion }: LocatedUrl): string {
  return `http://127.0.0.1:${port}${mark ?? ""}${isPlan ? PLAN_SEGMENT : ""}${hasVersion ? "/v1" : ""}`;
}
