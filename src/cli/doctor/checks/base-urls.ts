import { LOCAL_SERVER_PORTS } from "../../setup/services.ts";
import { isPortInUse } from "../../../adapters/port-holder.ts";
import type { Evidence } from "../evidence.ts";
import { findBaseUrls, findUrl, type FoundBaseUrl } from "../../dotfiles/find-base-urls.ts";
import { failure, ok, skipped, warning, type Check, type Finding } from "../../../check/check.ts";
import { listeningPort } from "../../../daemon/running-daemon.ts";
import { displayLocation, displayPath, pluralize } from "../../terminal/format.ts";
import { restartCommand, startCommand } from "../fix-commands.ts";

/** A base URL and its location, e.g. `~/.zshrc:12 (ANTHROPIC_BASE_URL)`. */
interface LocatedUrl extends Omit<FoundBaseUrl, "line"> {
  where: string;
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
    const findings = await Promise.all(
      urls.map((url) => findProblem(url, { running, configured, expected }, evidence)),
    );
    const problems = findings.filter((finding) => finding !== null);
    if (problems.length > 0) return problems;
    const count = urls.filter(({ port }) => port === running).length;
    return [ok(`${pluralize(count, "base URL")} ${count === 1 ? "points" : "point"} at tollkeeper`)];
  },
};

async function findAll({ env, home, dotfiles }: Evidence, ports: readonly number[]): Promise<LocatedUrl[]> {
  const inEnvironment = Object.entries(env).flatMap(([name, value = ""]) =>
    findUrl(name, value, ports).map((url) => locate("the environment", url)),
  );
  const inFiles = (await dotfiles()).flatMap(({ path, text }) =>
    findBaseUrls(text, ports).map((url) => locate(`${displayPath(path, home)}:${url.line}`, url)),
  );
  return [...inEnvironment, ...inFiles];
}

function locate(where: string, url: Omit<FoundBaseUrl, "line">): LocatedUrl {
  return { ...url, where: displayLocation(where, url.name) };
}

interface Ports {
  /** The daemon's; null when none runs. */
  running: number | null;
  /** The configuration's; 0 for any. */
  configured: number;
  /** The one that tools should use. */
  expected: number;
}

/** Returns null for a URL that points at the daemon or belongs to another program. */
async function findProblem(url: LocatedUrl, ports: Ports, evidence: Evidence): Promise<Finding | null> {
  const { where, port, mark } = url;
  if (port === ports.running) return null;
  if (port === ports.configured) {
    if (ports.running === null) {
      return failure(`${where} points at tollkeeper, which is not running`, await startCommand(evidence));
    }
    const what = `${where} points at port ${port}, but tollkeeper still listens on ${ports.running}`;
    return failure(what, await restartCommand(evidence));
  }
  const fix = `change it to ${urlWithPort(ports.expected, url)}`;
  if (mark !== null)
    return failure(`${where} points at port ${port}, but tollkeeper uses ${ports.expected}`, fix);
  if (LOCAL_SERVER_PORTS.includes(port) || (await isPortInUse(port))) return null;
  return warning(
    `${where} points at port ${port}, where nothing listens`,
    `if it is meant for tollkeeper, ${fix}`,
  );
}

function urlWithPort(port: number, { mark, hasVersion }: LocatedUrl): string {
  return `http://127.0.0.1:${port}${mark ?? ""}${hasVersion ? "/v1" : ""}`;
}
