import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseJson } from "../../../core/json.ts";
import { DEFAULT_PORT } from "../../../core/config/own-address.ts";
import { formatCommand } from "../../../core/text/shell-words.ts";
import { failure, ok, type Check, type Finding } from "../../../check/check.ts";
import type { Evidence } from "../evidence.ts";

/** Where `connect devcontainer --print` mounts the directory of the socket. */
export const MOUNTED_AT = "/run/tollkeeper";

const LIMIT_MS = 3_000;

const RESET_CODES = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

const ON_HOST = "on the container's host, type: tollkeeper connect devcontainer --print";
const OVER_SSH =
  "on the machine that runs tollkeeper, type: ssh -R 8655:127.0.0.1:8655 HOST; or set up tollkeeper here: tollkeeper setup";

/** Checks, in a container or on a remote host, that the port of tools reaches tollkeeper on its host. */
export const bridgeCheck: Check<Evidence> = bridgeCheckAt(DEFAULT_PORT, MOUNTED_AT);

/** Returns that check for another port and directory. */
export function bridgeCheckAt(port: number, directory: string): Check<Evidence> {
  return {
    id: "bridge",
    title: "bridge",
    run: async ({ env }) => [await findingOf(await askPort(port), port, directory, env)],
  };
}

type Answer = "tollkeeper" | "bridge only" | "other program" | "nothing";

async function findingOf(
  answer: Answer,
  port: number,
  directory: string,
  env: NodeJS.ProcessEnv,
): Promise<Finding> {
  if (answer === "tollkeeper") return ok(`port ${port} reaches tollkeeper on its host`);
  if (answer === "bridge only")
    return failure(
      "a bridge runs here, but cannot reach tollkeeper on its host",
      "on its host, type: tollkeeper doctor",
    );
  if (answer === "other program") {
    const fix = `find it with: ss -ltnp 'sport = :${port}'; then stop it`;
    return failure(`another program listens on port ${port} and receives what tools send`, fix);
  }
  const [socket] = listSockets(directory);
  if (socket !== undefined) {
    const what = `tollkeeper's socket is mounted, but no bridge listens on port ${port}`;
    return failure(what, formatCommand(["tollkeeper", "bridge", "--socket", join(directory, socket)]));
  }
  const isRemoteHost = env["SSH_CONNECTION"] !== undefined;
  const missing = `no socket is mounted at ${directory}, and nothing forwards port ${port}`;
  return failure(`tools cannot reach tollkeeper: ${missing}`, isRemoteHost ? OVER_SSH : ON_HOST);
}

/** Asks for the page, which is the same for everybody and leaves no record. */
async function askPort(port: number, isSecond = false): Promise<Answer> {
  try {
    const headers = { accept: "text/html" };
    const signal = AbortSignal.timeout(LIMIT_MS);
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers, signal, redirect: "manual" });
    const text = await response.text();
    if (text.includes("<title>tollkeeper</title>")) return "tollkeeper";
    const body = parseJson(text) as { error?: { code?: unknown } } | undefined;
    return body?.error?.code === "bridge_unreachable" ? "bridge only" : "other program";
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    // A connection of an earlier question, which has just been closed.
    if (RESET_CODES.has(code ?? "") && !isSecond) return askPort(port, true);
    return code === "ECONNREFUSED" ? "nothing" : "other program";
  }
}

function listSockets(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isSocket())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
