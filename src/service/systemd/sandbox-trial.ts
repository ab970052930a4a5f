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
      ? "#package/src/service/systemd/trial-program.ts"
      : "#package/dist/service/systemd/trial-program.js",
  ),
);

/** What needs seconds on no machine, and must not hang for ever. */
const LIMIT_S = 20;

/** What the trial's exit codes mean where it says nothing: systemd.exec(5), "Process exit codes", and systemd-run(1). */
export const TRIAL_EXIT_CODES: Readonly<Record<number, string>> = {
  1: `it did not come to its end within ${LIMIT_S} s`,
  217: "this user may make no user namespace",
  218: "this user may make no user namespace",
  226: "its directories cannot be mounted: the kernel refuses it, or the ledger is below /tmp, which is another one in there",
};

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
  const { node, configFile, reads, writable } = target;
  const properties = [...settingsOf(service), ...settingsOf(sandbox)]
    .filter(({ section, name }) => section === "Service" && !NOT_TRIED.test(name))
    .map(({ name, value }) => `--property=${name}=${expand(value, home)}`);
  const readable = [configFile, ...reads].filter((path) => existsSync(path));
  const limit = `--property=RuntimeMaxSec=${LIMIT_S}`;
  const run = ["systemd-run", "--user", "--wait", "--collect", "--quiet", "--pipe", limit];
  // Also in what systemd-run is given, `$` would begin a variable.
  const words = [INSIDE, ...readable, "--", ...writable].map((word) => word.replaceAll("$", "$$$$"));
  return [...run, ...properties, "--", node, ...words];
}

/** What would end a word is escaped, which systemd takes within quotes and without (systemd.syntax(7), "Quoting"). */
function expand(value: string, home: string): string {
  const written = home.replaceAll(/[\s"'\\]/g, "\\$&");
  return value.replaceAll(/%([h%])/g, (_, letter) => (letter === "h" ? written : "%"));
}
