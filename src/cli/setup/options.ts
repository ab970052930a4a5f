import type { Config } from "../../core/config/config.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { isInteractive } from "../terminal/confirm.ts";
import { WrongUsage } from "../wrong-usage.ts";

/** Arguments of `tollkeeper setup`. What is undefined is asked, or with `yes` left alone. */
export interface SetupOptions {
  config?: string | undefined;
  baseUrl?: string | undefined;
  keyStdin: boolean;
  service?: boolean | undefined;
  connect?: readonly string[] | undefined;
  /** Ask nothing. */
  yes: boolean;
  /** Replace a stored key that works. */
  replace: boolean;
  /** Store a key that could not be tested, or does not look like one. */
  force: boolean;
}

const EXAMPLE_URL = "https://api.anthropic.com/v1";

/** Throws WrongUsage, naming each missing option, when questions remain and there is no terminal to ask on. */
export function requireAnswers({ yes, baseUrl, keyStdin }: SetupOptions, { upstreams }: Config): void {
  const isNew = baseUrl === undefined && Object.keys(upstreams).length === 0;
  const canAsk = isInteractive() && !yes;
  if (canAsk || (yes && !isNew)) return;
  const missing = [
    ...(isNew ? ["--base-url URL"] : []),
    ...(isNew && !keyStdin ? ["--key-stdin"] : []),
    ...(yes ? [] : ["--yes"]),
  ];
  throw missingOptions(
    yes ? "with --yes, setup asks nothing" : "setup asks questions, but there is no terminal to ask on",
    missing,
    baseUrl,
  );
}

/**
 * Returns the error for options that are missing where nothing can be asked.
 * @param baseUrl of the service that was chosen, for the example
 */
export function missingOptions(
  why: string,
  options: readonly string[],
  baseUrl: string = EXAMPLE_URL,
): WrongUsage {
  const setup = formatCommand(["tollkeeper", "setup", "--base-url", baseUrl]);
  return new WrongUsage(
    `${why}; missing: ${options.join(", ")}`,
    `for example: pass show api-key | ${setup} --key-stdin --service --connect all --yes`,
  );
}
