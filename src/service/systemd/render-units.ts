import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseServiceCommand, type ServiceCommand } from "../service-command.ts";
import type { ServiceTarget } from "../service-manager.ts";
import { listenAddresses } from "./listen-addresses.ts";
import { hasSocketDiagnostics } from "./has-sock-diag.ts";
import {
  parseCommandLine,
  quoteArgument,
  quoteExecutable,
  quoteWord,
  readValues,
  replaceValues,
} from "./unit-syntax.ts";

export const SERVICE = "tollkeeper.service";
export const SOCKET = "tollkeeper.socket";
const SANDBOX = "sandbox.conf";

export type UnitPaths = ReturnType<typeof unitPaths>;

/** Returns the files of an installation in a unit directory. */
export function unitPaths(directory: string) {
  return {
    service: join(directory, SERVICE),
    socket: join(directory, SOCKET),
    sandbox: join(directory, `${SERVICE}.d`, SANDBOX),
  };
}

/** Returns the text of a unit file; empty when there is no such file. */
export function readUnit(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

/** Returns the command of the installed service. */
export function readCommand({ service }: UnitPaths): ServiceCommand {
  const [command = ""] = readValues(readUnit(service), "ExecStart");
  return parseServiceCommand(parseCommandLine(command));
}

/** Returns the unit that runs the daemon: the template with the target's command and variables. */
export function renderService(target: ServiceTarget): string {
  const { node, script, configFile, environment } = target;
  const args = [script, "serve", "--config", configFile];
  const command = [quoteExecutable(node), ...args.map(quoteArgument)].join(" ");
  const variables = Object.entries(environment).map(([name, value]) => quoteWord(`${name}=${value}`));
  const unit = replaceValues(readTemplate(SERVICE), "ExecStart", [command]);
  return variables.length === 0 ? unit : replaceValues(unit, "Environment", variables);
}

/** Returns the unit that opens sockets for the daemon. */
export function renderSocket(
  port: number,
  { hasIpv6, hasDiagnostics = hasSocketDiagnostics() }: { hasIpv6?: boolean; hasDiagnostics?: boolean } = {},
): string {
  const unit = replaceValues(readTemplate(SOCKET), "ListenStream", listenAddresses(port, hasIpv6));
  return hasDiagnostics ? unit : replaceValues(unit, "ListenNetlink", []);
}

/** Returns the drop-in with the settings that need a user namespace. */
export function renderSandbox(target: ServiceTarget): string {
  return replaceValues(readTemplate(SANDBOX), "ReadWritePaths", target.writableDirectories.map(quoteWord));
}

/** Reads a template that the package ships. */
function readTemplate(name: string): string {
  return readFileSync(new URL(import.meta.resolve(`#package/systemd/${name}`)), "utf8");
}
