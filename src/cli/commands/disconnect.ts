import { resolve } from "node:path";
import {
  prepareDisconnection,
  readConnections,
  type Identity,
  type KeptBackup,
} from "../../connect/connection.ts";
import type { Scope } from "../../tools/recipe.ts";
import { Failure } from "../../core/failure.ts";
import { writeCommand } from "../../service/write-command.ts";
import { changeEach } from "../connect/change-each.ts";
import { decide, SCOPES, showChanges, type ChangeOptions, type Decision } from "../connect/change-of-files.ts";
import type { Command } from "../command.ts";
import { revokeTokensOf } from "../connect/connection-token.ts";
import { identityOf } from "../connect/connect-tool.ts";
import { EXIT, note, print } from "../terminal/console.ts";
import { shorten } from "../hints.ts";
import { requireRecipe } from "../connect/find-recipe.ts";
import { connectionsDirectory, here } from "../../adapters/paths.ts";

interface DisconnectArguments {
  tool?: string | undefined;
  scope: Scope;
  directory?: string | undefined;
  "dry-run": boolean;
  yes: boolean;
  all?: boolean | undefined;
}

/** `tollkeeper disconnect`: gives tools back what `connect` has changed. */
export const command: Command<DisconnectArguments> = {
  builder: (yargs) =>
    yargs
      .positional("tool", { type: "string", describe: "The tool" })
      .option("scope", { choices: SCOPES, default: "user" as const, describe: "Everywhere, or here alone" })
      .option("directory", {
        type: "string",
        describe: "The project's, which may be gone; by default this one",
      })
      .option("dry-run", { type: "boolean", default: false, describe: "Only show what would change" })
      .option("yes", { alias: "y", type: "boolean", default: false, describe: "Do it without asking" })
      .option("all", { type: "boolean", describe: "Disconnect every tool, in every project" })
      .conflicts("all", ["tool", "directory"])
      .check(({ tool, all }) => tool !== undefined || all === true || "name a tool, or say --all"),
  handler: async ({ tool = "", scope, directory, dryRun, yes, all }) => {
    const options = { isDry: dryRun, isAgreed: yes };
    const known = readConnections(connectionsDirectory()).map(({ identity }) => identity);
    if (all === true) {
      return changeEach(
        known.map((identity) => ({ title: nameOf(identity), make: () => disconnectTool(identity, options) })),
      );
    }
    const isKnown = known.some((identity) => identity.tool === tool);
    const name = isKnown ? tool : requireRecipe(tool).tool;
    const identity: Identity =
      directory === undefined
        ? identityOf(name, scope)
        : { tool: name, scope: "project", directory: resolve(directory) };
    if ((await disconnectTool(identity, options)) === "declined") process.exitCode = EXIT.failed;
  },
};

/**
 * Takes one connection back: shows what that changes, asks, and does it.
 * @throws Failure where there is none, or it cannot be done
 */
async function disconnectTool(identity: Identity, options: ChangeOptions): Promise<Decision> {
  const prepared = prepareDisconnection(connectionsDirectory(), identity);
  // A slip of the pen must not be taken for done.
  if (prepared === null) throw notConnected(identity);
  showChanges(prepared);
  const decision =
    prepared.isUnchanged && !options.isDry
      ? "done"
      : await decide(`disconnect ${nameOf(identity)}?`, options);
  if (decision !== "done") return decision;
  const kept = prepared.carryOut();
  await revokeTokensOf(identity);
  tellKept(kept);
  print(`${nameOf(identity)} is disconnected`);
  if (prepared.isAllLeft)
    note("note: none of its settings was as connecting wrote it, so it may come here still");
  return "done";
}

function tellKept(kept: readonly KeptBackup[]): void {
  const { home } = here();
  for (const { path, backup, isBlotted } of kept) {
    const but = isBlotted ? ", but for its keys" : "";
    print(`${shorten(path, home)} as it was before${but}: ${shorten(backup, home)}`);
  }
}

/** Names the one project that may have been meant. */
function notConnected(identity: Identity): Failure {
  const projects = readConnections(connectionsDirectory()).flatMap(({ identity: { tool, directory } }) =>
    tool === identity.tool && directory !== null ? [directory] : [],
  );
  const [only] = projects;
  const hint =
    only === undefined || projects.length > 1
      ? "see what is: tollkeeper connect --list"
      : `it is in a project: ${writeCommand(["tollkeeper", "disconnect", identity.tool, "--directory", only])}`;
  return new Failure(`${nameOf(identity)} is not connected`, hint);
}

function nameOf({ tool, directory }: Identity): string {
  return directory === null ? tool : `${tool} in ${shorten(directory, here().home)}`;
}
