#!/usr/bin/env node
import "./daemon/no-inspector.ts";
import { command } from "./cli/command.ts";
import { EXIT, printFailure } from "./cli/terminal/console.ts";
import { readServeLine } from "./cli/commands/serve/arguments.ts";

/** All commands: name, description and module. */
const COMMANDS = [
  command("serve", "Run the daemon in the foreground", () => import("./cli/commands/serve.ts")),
  command("key", "Store, list, test or remove API keys", () => import("./cli/commands/key.ts")),
  command("token", "Make, list or take back local tokens of tools", () => import("./cli/commands/token.ts")),
  command("usage", "Show which tool spent how many tokens", () => import("./cli/commands/usage.ts")),
  command(
    "status",
    "Show what the running daemon does: addresses, upstreams, keys, configuration, ledger",
    () => import("./cli/commands/status.ts"),
  ),
  command("tail", "Show each exchange as it ends", () => import("./cli/commands/tail.ts")),
  command(
    "check",
    "Check that this installation keeps its promises; needs no key, costs nothing",
    () => import("./cli/commands/check.ts"),
  ),
  command(
    "doctor",
    "Find out what is wrong, and say what mends it; changes nothing",
    () => import("./cli/commands/doctor.ts"),
  ),
  command(
    "connect [tool]",
    "Lead a tool here, by its own settings",
    () => import("./cli/commands/connect.ts"),
  ),
  command(
    "disconnect [tool]",
    "Give a tool back what connect has changed",
    () => import("./cli/commands/disconnect.ts"),
  ),
  command(
    "run",
    "Run one command that is led here; nothing is written",
    () => import("./cli/commands/run.ts"),
  ),
  command("env <name>", "Print what leads a tool here, for a shell", () => import("./cli/commands/env.ts")),
  command("config", "Show, check or edit the configuration", () => import("./cli/commands/config.ts")),
  command(
    "service",
    "Install, start, stop or look at the daemon as your service",
    () => import("./cli/commands/service.ts"),
  ),
  command(
    "sandbox",
    "Run the built-in stand-in for an upstream on its own",
    () => import("./cli/commands/sandbox.ts"),
  ),
];

try {
  const words = process.argv.slice(2);
  const serving = readServeLine(words);
  if (serving !== null) await (await import("./cli/commands/serve.ts")).serve(serving);
  else await (await import("./cli/command-line.ts")).runCommandLine(words, COMMANDS);
} catch (error) {
  printFailure(error);
  process.exitCode = EXIT.failed;
}
