import { existsSync } from "node:fs";
import { configPath } from "../../adapters/paths.ts";
import { MOUNTED_AT } from "./checks/bridge.ts";
import type { Evidence } from "./evidence.ts";

/** Files that Docker and Podman create in their containers, and the directory that ours mounts. */
const SIGNS = ["/.dockerenv", "/run/.containerenv", MOUNTED_AT];

/** Variables of dev containers, of containers that systemd starts, and of a login over ssh. */
const VARIABLES = ["REMOTE_CONTAINERS", "container", "SSH_CONNECTION"];

/**
 * True in a container and on a host that was reached by ssh, if tollkeeper is neither configured there nor runs: it then runs elsewhere,
 * and nothing that a service needs is missing here.
 */
export async function isAway({ env, daemon }: Evidence): Promise<boolean> {
  if (existsSync(configPath())) return false;
  if (!SIGNS.some((path) => existsSync(path)) && !VARIABLES.some((name) => env[name] !== undefined))
    return false;
  const { status, failure } = await daemon();
  return status === null && failure === null;
}
