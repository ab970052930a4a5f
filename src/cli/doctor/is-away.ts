import { existsSync } from "node:fs";
import { configPath } from "../../adapters/paths.ts";
import { DEFAULT_PORT } from "../../core/config/own-address.ts";
import { findBaseUrls, findUrl } from "../dotfiles/find-base-urls.ts";
import { MOUNTED_AT } from "./checks/bridge.ts";
import type { Evidence } from "./evidence.ts";

/** Variables of dev containers, of containers that systemd and Podman start, and of a login over ssh. */
const VARIABLES = ["REMOTE_CONTAINERS", "container", "SSH_CONNECTION"];

/** Files that Docker and Podman create in their containers. */
const SIGNS = ["/.dockerenv", "/run/.containerenv"];

/**
 * True in a container and on a host that was reached by ssh, if tollkeeper is neither configured there nor runs, and a mounted socket or
 * the base URL of a tool says that one is to be reached from there: it then runs elsewhere, and nothing that a service needs is missing.
 */
export async function isAway(evidence: Evidence): Promise<boolean> {
  const { env, daemon } = evidence;
  if (existsSync(configPath())) return false;
  const isRemote =
    SIGNS.some((path) => existsSync(path)) || VARIABLES.some((name) => env[name] !== undefined);
  if (!existsSync(MOUNTED_AT) && !(isRemote && (await pointsHere(evidence)))) return false;
  const { status, failure } = await daemon();
  return status === null && failure === null;
}

function isOurs({ port }: { port: number }): boolean {
  return port === DEFAULT_PORT;
}

/** True when a tool is pointed at the port of a bridge. */
async function pointsHere({ env, dotfiles }: Evidence): Promise<boolean> {
  if (Object.entries(env).some(([name, value = ""]) => findUrl(name, value, [DEFAULT_PORT]).some(isOurs)))
    return true;
  return (await dotfiles()).some(({ text }) => findBaseUrls(text, [DEFAULT_PORT]).some(isOurs));
}
