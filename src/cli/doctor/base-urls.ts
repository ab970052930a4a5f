import { isAnyoneListening } from "../../daemon/port-holder.ts";
import type { Evidence } from "./evidence.ts";
import { findBaseUrls, urlIn, type FoundBaseUrl } from "../dotfiles/find-base-urls.ts";
import { failure, ok, skipped, warning, type Check, type Finding } from "./finding.ts";
import { portOf } from "../listening-port.ts";
import { restartCommand, shorten, startCommand, writePlace } from "../hints.ts";

/** A base URL, and where it stands. */
interface PlacedUrl extends Omit<FoundBaseUrl, "line"> {
  where: string;
}

/** Ports that local model servers have unless told otherwise: Ollama, LM Studio, llama.cpp, vLLM. */
const OTHERS_PORTS = [11434, 1234, 8080, 8000];

/** Do the tools that are pointed at tollkeeper reach it? */
export const baseUrlsCheck: Check = {
  id: "base-urls",
  title: "base URLs",
  async look(evidence) {
    const { status, failure: trouble } = await evidence.daemon();
    if (trouble !== null) return [skipped("not looked at; see the daemon")];
    const configured = (await evidence.config())?.listen.port ?? 0;
    const { state } = await evidence.service();
    // What the service manager holds is as good as a daemon.
    const held = state?.holdsPort === true ? state.port : null;
    const running = status === null ? held : portOf(status);
    const right = running ?? configured;
    if (right === 0) return [skipped("not looked at; no port is known")];
    const urls = await findAll(evidence, [right, configured]);
    const findings = await Promise.all(
      urls.map((url) => judge(url, { running, configured, right }, evidence)),
    );
    const faults = findings.filter((finding) => finding !== null);
    if (faults.length > 0) return faults;
    const count = urls.filter(({ port }) => port === running).length;
    return [ok(`those that lead to tollkeeper: ${count}`)];
  },
};

async function findAll({ env, home, places }: Evidence, ports: readonly number[]): Promise<PlacedUrl[]> {
  const inEnvironment = Object.entries(env).flatMap(([name, value = ""]) =>
    urlIn(name, value, ports).map((url) => placed("the environment", url)),
  );
  const inFiles = (await places()).flatMap(({ path, text }) =>
    findBaseUrls(text, ports).map((url) => placed(`${shorten(path, home)}:${url.line}`, url)),
  );
  return [...inEnvironment, ...inFiles];
}

function placed(where: string, url: Omit<FoundBaseUrl, "line">): PlacedUrl {
  return { ...url, where: writePlace(where, url.name) };
}

/** The daemon's port, null without one; the configuration's, 0 for any; and the one of the two that tools should name. */
interface Ports {
  running: number | null;
  configured: number;
  right: number;
}

/** null for a URL that leads to the daemon, or that is another program's. */
async function judge(url: PlacedUrl, ports: Ports, evidence: Evidence): Promise<Finding | null> {
  const { where, port, mark } = url;
  if (port === ports.running) return null;
  if (port === ports.configured) {
    if (ports.running === null) {
      return failure(`${where} leads to tollkeeper, which does not run`, await startCommand(evidence));
    }
    const what = `${where} leads to port ${port}, and tollkeeper still listens on ${ports.running}`;
    return failure(what, await restartCommand(evidence));
  }
  const correct = `write ${urlWith(ports.right, url)} there`;
  if (mark !== null)
    return failure(`${where} leads to port ${port}, and tollkeeper's is ${ports.right}`, correct);
  if (OTHERS_PORTS.includes(port) || (await isAnyoneListening(port))) return null;
  return warning(
    `${where} leads to port ${port}, where nobody listens`,
    `if tollkeeper is meant, ${correct}`,
  );
}

function urlWith(port: number, { mark, hasVersion }: PlacedUrl): string {
  return `http://127.0.0.1:${port}${mark ?? ""}${hasVersion ? "/v1" : ""}`;
}
