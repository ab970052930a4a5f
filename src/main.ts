import { command } from "./cli/command.ts";
import type { CommandGroup } from "./cli/command-line.ts";
import { putConfigLast, takeConfig, useConfigFile } from "./cli/config-in-use.ts";
import { reportError } from "./cli/terminal/console.ts";
import { readStatuslineLine } from "./cli/commands/statusline/arguments.ts";
import { readServeLine } from "./cli/commands/serve/arguments.ts";
import { readBridgeLine } from "./cli/commands/bridge/arguments.ts";

/** All commands, grouped by what a person wants to do. */
const GROUPS: readonly CommandGroup[] = [
  {
    title: "Set up",
    commands: [
      command(
        "setup",
        "Set up everything: upstream, key, background service, tools",
        () => import("./cli/commands/setup.ts"),
      ),
      command("connect [tool]", "Point a tool at tollkeeper", () => import("./cli/commands/connect.ts")),
      command(
        "disconnect [tool]",
        "Undo what connect changed in a tool's settings",
        () => import("./cli/commands/disconnect.ts"),
      ),
      command(
        "run",
        "Run one command pointed at tollkeeper; write no files",
        () => import("./cli/commands/run.ts"),
      ),
      command(
        "env <name>",
        "Print the variables that point a tool at tollkeeper, for a shell",
        () => import("./cli/commands/env.ts"),
      ),
      command(
        "config",
        "Show, check, change or edit the configuration",
        () => import("./cli/commands/config.ts"),
      ),
      command("key", "Store, list, test or remove API keys", () => import("./cli/commands/key.ts")),
      command("token", "Add, list or revoke local tokens", () => import("./cli/commands/token.ts")),
      command(
        "uninstall",
        "Remove the service, connections, tokens, keys and configuration",
        () => import("./cli/commands/uninstall.ts"),
      ),
    ],
  },
  {
    title: "Run",
    commands: [
      command("serve", "Run the daemon in the foreground", () => import("./cli/commands/serve.ts")),
      command(
        "service",
        "Install and control the background service",
        () => import("./cli/commands/service.ts"),
      ),
      command(
        "bridge",
        "Let tools in a container or on a remote host reach tollkeeper through its socket",
        () => import("./cli/commands/bridge.ts"),
      ),
      command(
        "sandbox",
        "Run the built-in sandbox, a simulated upstream",
        () => import("./cli/commands/sandbox.ts"),
      ),
    ],
  },
  {
    title: "See usage and costs",
    commands: [
      command("usage", "Show how many tokens each tool used", () => import("./cli/commands/usage.ts")),
      command(
        "digest",
        "Print a short text on the last day or week, for a mail or a chat: costs, failures, what is out of line",
        () => import("./cli/commands/monitoring/digest.ts"),
      ),
      command("tail", "Show each request as it ends", () => import("./cli/commands/live/tail.ts")),
      command(
        "explain <id>",
        "Say all about one request: who asked, where it went, what it cost, and what is usual",
        () => import("./cli/commands/live/explain.ts"),
      ),
      command(
        "capture [tool]",
        "Copy requests and responses of a tool for a while, to look into them; encrypted, and deleted after an hour",
        () => import("./cli/commands/capture/capture.ts"),
      ),
      command(
        "top",
        "Show running requests, and what each tool uses and costs, on the whole screen",
        () => import("./cli/commands/live/top.ts"),
      ),
      command(
        "dashboard",
        "Open the page that shows usage, costs and what runs, in a browser",
        () => import("./cli/commands/live/dashboard.ts"),
      ),
      command(
        "statusline",
        "Print one line on costs, for Claude Code's status line, a prompt or tmux",
        () => import("./cli/commands/statusline.ts"),
      ),
      command(
        "limits",
        "Show how much of the services' own limits is used, from the responses so far",
        () => import("./cli/commands/monitoring/limits.ts"),
      ),
      command(
        "prices [model]",
        "Show what a model costs, where the price comes from, and how the cost of a request is calculated",
        () => import("./cli/commands/prices.ts"),
      ),
      command(
        "models",
        "List the models that may be used, with context length and prices",
        () => import("./cli/commands/models.ts"),
      ),
      command(
        "mcp",
        "Answer an agent's questions about costs and limits, as an MCP server",
        () => import("./cli/commands/mcp/mcp.ts"),
      ),
    ],
  },
  {
    title: "Limit and direct requests",
    commands: [
      command(
        "budget",
        "Show what is left of each budget; set, remove, lift or reset budgets",
        () => import("./cli/commands/budget.ts"),
      ),
      command(
        "group",
        "List, set or remove groups, and put tools into them",
        () => import("./cli/commands/rules/group.ts"),
      ),
      command(
        "brake",
        "List, set or remove limits to how fast a tool may send requests",
        () => import("./cli/commands/rules/brake.ts"),
      ),
      command(
        "alias",
        "List, set or remove other names for models",
        () => import("./cli/commands/rules/alias.ts"),
      ),
      command(
        "pause [tool]",
        "Refuse every request of a tool, a group or all, until resume",
        () => import("./cli/commands/pause/pause.ts"),
      ),
      command("resume [tool]", "End a pause", () => import("./cli/commands/pause/resume.ts")),
      command(
        "route [model]",
        "Say which upstream a request for a model goes to, and why",
        () => import("./cli/commands/route.ts"),
      ),
    ],
  },
  {
    title: "Find what is wrong",
    commands: [
      command(
        "status",
        "Show the running daemon: addresses, upstreams, keys, configuration, ledger",
        () => import("./cli/commands/status.ts"),
      ),
      command(
        "doctor",
        "Find problems and print the command that fixes each; change nothing",
        () => import("./cli/commands/doctor.ts"),
      ),
      command(
        "check",
        "Test this installation against its guarantees; needs no key and costs nothing",
        () => import("./cli/commands/check.ts"),
      ),
    ],
  },
  {
    title: "Keep and pass on records",
    commands: [
      command(
        "ledger",
        "Verify, export, prune, import or reconcile the usage records",
        () => import("./cli/commands/ledger.ts"),
      ),
      command(
        "export",
        "Send records and metrics to an OpenTelemetry collector, or show what would be sent",
        () => import("./cli/commands/monitoring/export.ts"),
      ),
      command(
        "metrics",
        "Print metrics for Prometheus, as its textfile collector reads them",
        () => import("./cli/commands/monitoring/metrics.ts"),
      ),
    ],
  },
  {
    title: "About the program",
    commands: [
      command(
        "version",
        "Print the version; with --json also Node's and those of the file formats",
        () => import("./cli/commands/version.ts"),
      ),
      command(
        "completion <shell>",
        "Print the completion script for bash, zsh or fish",
        () => import("./cli/commands/completion.ts"),
      ),
    ],
  },
];

const COMMANDS = GROUPS.flatMap(({ commands }) => commands);

try {
  const typed = process.argv.slice(2);
  const words = putConfigLast(typed);
  useConfigFile(takeConfig(words).file);
  const serving = readServeLine(words);
  const bridging = readBridgeLine(words);
  const drawing = readStatuslineLine(words);
  if (drawing !== null) await (await import("./cli/commands/statusline.ts")).showStatusline(drawing);
  else if (serving !== null) await (await import("./cli/commands/serve.ts")).serve(serving);
  else if (bridging !== null) await (await import("./cli/bridge/run-bridge.ts")).runBridge(bridging);
  else if (typed[0] === "--complete")
    await (await import("./cli/complete.ts")).complete(typed.slice(1), COMMANDS);
  else await (await import("./cli/command-line.ts")).runCommandLine(words, GROUPS);
} catch (error) {
  reportError(error);
}
