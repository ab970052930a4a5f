import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ServiceTarget } from "../service-manager.ts";
import { withValues } from "./unit-file.ts";
import { writeArgument, writeProgram, writeWord } from "./exec-quoting.ts";

export const SERVICE = "tollkeeper.service";
export const SOCKET = "tollkeeper.socket";
const SANDBOX = "sandbox.conf";

/** Where our files are: absolute paths. */
export interface UnitPaths {
  service: string;
  socket: string;
  sandbox: string;
}

/** Our files in a directory of units. */
export function unitPaths(directory: string): UnitPaths {
  return {
    service: join(directory, SERVICE),
    socket: join(directory, SOCKET),
    sandbox: join(directory, `${SERVICE}.d`, SANDBOX),
  };
}

/** The unit that runs the daemon: its command, and the variables that it needs. */
export function renderService(target: ServiceTarget): string {
  const { node, script, configFile, environment } = target;
  const args = [script, "serve", "--config", configFile];
  const command = [writeProgram(node), ...args.map(writeArgument)].join(" ");
  const variables = Object.entries(environment).map(([name, value]) => writeWord(`${name}=${value}`));
  const unit = withValues(template(SERVICE), "ExecStart", [command]);
  return variables.length === 0 ? unit : withValues(unit, "Environment", variables);
}

/** The unit that listens for it. The daemon takes the sockets in this order. */
export function renderSocket(port: number, hasIpv6: boolean): string {
  const addresses = [`127.0.0.1:${port}`, ...(hasIpv6 ? [`[::1]:${port}`] : [])];
  return withValues(template(SOCKET), "ListenStream", addresses);
}

/** The drop-in for what needs a user namespace. */
export function renderSandbox(target: ServiceTarget): string {
  return withValues(template(SANDBOX), "ReadWritePaths", target.writable.map(writeWord));
}

/** The file as it is shipped. */
function template(name: string): string {
  return readFileSync(new URL(import.meta.resolve(`#package/systemd/${name}`)), "utf8");
}
