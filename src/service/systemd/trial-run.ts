import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ServiceTarget } from "../service-manager.ts";
import { parseSettings } from "./unit-syntax.ts";

/** Settings of the service that say how it is run and supervised rather than what it may do. */
const NOT_TRIED =
  /^(?:Type|NotifyAccess|Exec\w+|Environment|SyslogIdentifier|Timeout\w+|WatchdogSec|Restart\w*|NonBlocking)$/;

/** The program that runs in the sandbox. */
const TRIAL_PROGRAM = fileURLToPath(
  import.meta.resolve("#package/dist/service/systemd/trial-run-program.js"),
);

/** Far more than the trial needs on any machine. */
const LIMIT_S = 20;

/** What exit codes without output mean: systemd.exec(5), "Process exit codes", and systemd-run(1). */
export const TRIAL_EXIT_CODES: Readonly<Record<number, string>> = {
  1: `it did not finish within ${LIMIT_S} s`,
  217: "this user may not create user namespaces",
  218: "this user may not create user namespaces",
  226: "its directories cannot be mounted: the kernel refuses it, or the ledger is below /tmp, which differs inside the sandbox",
};

/**
 * Returns a systemd-run command that runs the target's Node under the settings of the two unit texts, and succeeds when it
 * can access there what the daemon needs.
 * @param home the value of `%h`, because systemd-run expands no specifiers
 */
export function sandboxTrialCommand(
  target: ServiceTarget,
  service: string,
  sandbox: string,
  home: string,
): string[] {
  const { node, configFile, trustedFiles, writableDirectories } = target;
  const properties = [...parseSettings(service), ...parseSettings(sandbox)]
    .filter(({ section, name }) => section === "Service" && !NOT_TRIED.test(name))
    .map(({ name, value }) => `--property=${name}=${expand(value, home)}`);
  const readable = [configFile, ...trustedFiles].filter((path) => existsSync(path));
  const limit = `--property=RuntimeMaxSec=${LIMIT_S}`;
  const run = ["systemd-run", "--user", "--wait", "--collect", "--quiet", "--pipe", limit];
  const words = [TRIAL_PROGRAM, ...readable, "--", ...writableDirectories];
  // `$` begins a variable in the arguments of systemd-run, too.
  return [...run, ...properties, "--", node, ...words.map((word) => word.replaceAll("$", "$$$$"))];
}

/** Expands `%h` and `%%`. The home directory is escaped so that it stays one word, quoted or not (systemd.syntax(7)). */
function expand(value: string, home: string): string {
  const escaped = home.replaceAll(/[\s"'\\]/g, "\\$&");
  return value.replaceAll(/%([h%])/g, (_, letter) => (letter === "h" ? escaped : "%"));
}
