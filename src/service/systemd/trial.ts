import { existsSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { ServiceTarget } from "../service-manager.ts";
import { settingsOf } from "./unit-file.ts";

/** Of the service's settings, those that say how it is run and watched, and not what it may do. */
const NOT_TRIED =
  /^(?:Type|NotifyAccess|Exec\w+|Environment|SyslogIdentifier|Timeout\w+|WatchdogSec|Restart\w*)$/;

/** JavaScript in `dist`, TypeScript in the source, which runs under tsx. */
const INSIDE = fileURLToPath(
  import.meta.resolve(
    extname(import.meta.filename) === ".ts"
      ? "#package/src/service/systemd/inside.ts"
      : "#package/dist/service/systemd/inside.js",
  ),
);

/**
 * The command that tries, once, whether the daemon could live under these settings: with this Node, at what the daemon
 * needs. The settings are read from the very texts that would be installed.
 * @param service the service's unit
 * @param sandbox the drop-in
 * @param home what `%h` stands for; systemd-run takes no specifiers
 */
export function trialCommand(
  target: ServiceTarget,
  service: string,
  sandbox: string,
  home: string,
): string[] {
  const { node, configFile, writable } = target;
  const properties = [...settingsOf(service), ...settingsOf(sandbox)]
    .filter(({ section, name }) => section === "Service" && !NOT_TRIED.test(name))
    .map(({ name, value }) => `--property=${name}=${expand(value, home)}`);
  const config = configFile !== null && existsSync(configFile) ? configFile : "";
  const run = ["systemd-run", "--user", "--wait", "--collect", "--quiet", "--pipe"];
  return [...run, ...properties, "--", node, INSIDE, config, ...writable];
}

function expand(value: string, home: string): string {
  return value.replaceAll(/%([h%])/g, (_, letter) => (letter === "h" ? home : "%"));
}
